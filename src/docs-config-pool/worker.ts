import { parentPort } from 'node:worker_threads';
import { type ValidateOptions, validateDocsConfig } from '../docs-config/validate.ts';
import type { CheckedText, CheckJob } from './check-documents.ts';

// The entry of a worker thread: validates the documents of one job at a time, and replies with JSON texts, which are cheap to
// transfer.
parentPort?.on('message', ({ sources, options }: CheckJob) => {
  const { files, ...rest } = JSON.parse(options) as ValidateOptions;
  const given: ValidateOptions = { ...rest, ...(files && { files }) };
  const checked = sources.map((source): CheckedText => {
    const { config, ...report } = validateDocsConfig(source, given);
    return { report: JSON.stringify(report), config: config && JSON.stringify(config) };
  });
  parentPort?.postMessage(checked);
});
parentPort?.postMessage('loaded');
