import { parentPort } from 'node:worker_threads';
import { type ValidateOptions, validateDocsConfig } from '../validate.ts';
import type { CheckedText, CheckJob } from './check-documents.ts';

/** The work of a thread: validates the document of a job, and returns JSON texts, which are cheap to transfer. */
export default function checkOnThread({ source, options }: CheckJob): CheckedText {
  parentPort?.postMessage('started');
  const { config, ...report } = validateDocsConfig(source, JSON.parse(options) as ValidateOptions);
  return { report: JSON.stringify(report), config: config && JSON.stringify(config) };
}
