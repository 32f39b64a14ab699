import { afterAll, beforeEach, expect, test } from 'vitest';
import { checkConformance, conformanceCases } from '../support/conformance.ts';
import { requireProgram, runInProcess } from '../support/example.ts';
import { endProcesses } from '../support/process.ts';

beforeEach((context) => requireProgram(context, 'python3', ['--version'], 'python3'));
afterAll(endProcesses);

const cases = conformanceCases(['introspect', 'untypedToken']);

test.concurrent.each(cases)('$name', (testCase) =>
  checkConformance(testCase, (runnable) =>
    runInProcess('python3', ['test/examples/conformance.py'], runnable, { PYTHONPATH: 'examples/python' }),
  ),
);
