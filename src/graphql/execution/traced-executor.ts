import type { OperationNames } from '../../metrics/operation-names.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { OperationExecutor } from './execute.ts';

/** The same executor with a span for each operation. @param names bounds the names of the spans. */
export function traceOperations(executor: OperationExecutor, names: OperationNames, tracing: Tracing): OperationExecutor {
  return {
    ...executor,
    run(known, request) {
      const { operation, name } = known.operation;
      const shown = names.shown(name?.value, request.context.caller.apiToken !== undefined);
      return tracing.operation(operation, shown, () => executor.run(known, request));
    },
  };
}
