import { parentPort } from 'node:worker_threads';
import { type ValidateOptions, validateDocsConfig } from '../validate.ts';
import type { CheckedText, CheckJob } from './check-documents.ts';

/** The work of a thread: validates the documents of a job, and returns JSON texts, which are cheap to transfer. */
export default function checkOnThread({ sources, options }: CheckJob): CheckedText[] {
  parentPort?.postMessage('started');
  const { files, ...rest } = JSON.parse(options) as ValidateOptions;
  const given: ValidateOptions = { ...rest, ...(files && { files }) };
  return sources.map((source): CheckedText => {
    const { config, ...report } = validateDocsConfig(source, given);
    return { report: JSON.stringify(report), config: config && JSON.stringify(config) };
  });
}
