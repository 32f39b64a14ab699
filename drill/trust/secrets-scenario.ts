import { endProcesses } from '../../test/support/process.ts';
import { searchForSecrets } from '../../test/support/secrets.ts';
import { Instance } from '../instance.ts';
import type { Scenario } from '../scenario.ts';

/** Secrets that are sent, issued, imported, stored and configured, and everything that gateway and PostgreSQL write. */
export const secretsScenario: Scenario = {
  name: 'secrets',
  summary: 'searches logs, spans, metrics, errors, data files, WAL and arguments for every secret of a run',
  missing: () => (process.platform === 'linux' ? undefined : 'arguments of processes are read from /proc'),
  async run(context) {
    const instance = new Instance(context);
    context.onEnd(endProcesses);
    const { secrets, requests, errors, failures, surfaces, found, missing } = await searchForSecrets(instance);
    const mebibytes = surfaces.reduce((sum, { content }) => sum + content.length, 0) / 2 ** 20;
    context.totals.secrets = { secrets, places: surfaces.length + errors, found: found.length };
    context.figure(
      `${secrets} secrets in ${requests} requests; ${surfaces.length} files and outputs (${Math.round(mebibytes)} MiB) and ${errors} error responses searched; ${found.length} found`,
    );
    for (const text of found.slice(0, 10)) context.expect(false, text);
    for (const place of missing) context.expect(false, `the search does not find the ${place}`);
    context.expect(failures > 20, `only ${failures} requests failed with a cause of the gateway's own`);
  },
};
