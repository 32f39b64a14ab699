import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { acceptBootstrapToken, type IssuedApiToken, issueFirstApiToken } from '../api-tokens/api-tokens.ts';
import { describeRefusal } from '../api-tokens/authenticate.ts';
import type { ApiTokenRecord } from '../api-tokens/sql.ts';
import { contextOf, createApp } from '../app.ts';
import { systemAuthor } from '../audit-log/statements/author.ts';
import { Caller } from '../caller.ts';
import { ensureSigningKeys } from '../embed-tokens/signing-keys.ts';
import { buildGateway } from '../gateway.ts';
import { readPersistedOperations } from '../graphql/persisted.ts';
import { startHousekeeping } from '../housekeeping/housekeeping.ts';
import { openLog } from '../log.ts';
import { packageRoot, readPackageVersion } from '../package-root.ts';
import { schema } from '../schema.ts';
import { type Config, readConfig } from '../settings.ts';
import { shellWord } from '../shell-word.ts';
import { escapeControls } from '../terminal-text.ts';
import { createTracing } from '../tracing/open-telemetry.ts';
import { tracing } from '../tracing/tracing.ts';
import { type DatabaseContext, withServerDatabase } from './context.ts';
import { keyRefreshMs } from './key-file.ts';
import { compareOpenFiles } from './open-files.ts';
import { listen, requireFreeAddress } from './open-listener.ts';
import { readOnlyOptions, UsageError } from './options.ts';
import { isClosed } from './output.ts';
import { processIo } from './process-io.ts';
import { abortOn, untilStopRequested } from './stop-request.ts';
import { describeLostSecret } from './token-create.ts';

/**
 * `serve`: serves requests until SIGTERM, SIGINT or SIGHUP, then drains in-flight requests and stops, the bundled
 * PostgreSQL last. A second signal stops it immediately.
 */
export async function serve(args: string[]): Promise<number> {
  const { problems } = readOnlyOptions(args, {});
  if (problems.length > 0) {
    const hint = 'serve takes no options. Settings, such as PORT, are environment variables; the command help lists them.';
    throw new UsageError([...problems, hint].join('\n'));
  }
  const stop = untilStopRequested();
  // Before anything is started, like every other check of the settings.
  const settings = readConfig(process.env, process.stderr.isTTY);
  const persistedOperations = await readPersistedOperations(settings, schema);
  await requireFreeAddress(settings);
  const { signal, reason } = abortOn(stop);
  return withServerDatabase((context) => run(context, persistedOperations, stop), signal).catch((error: unknown) => {
    if (error !== signal.reason) throw error;
    openLog(settings, processIo.log).info(`${reason()}: stopped before listening`);
    return 0;
  });
}

/** Serves requests until `stop` resolves with a reason. @returns the exit status. */
async function run(
  { config, log, database, keys }: DatabaseContext,
  persistedOperations: Awaited<ReturnType<typeof readPersistedOperations>>,
  stop: Promise<string>,
): Promise<number> {
  warnOfOpenFiles(config, log);
  const context = contextOf(createApp(database, keys), Caller.trusted(systemAuthor));
  const bootstrap = config.bootstrapApiToken && (await acceptBootstrapToken(context, config.bootstrapApiToken));
  if (bootstrap) warnOfBootstrapToken(bootstrap, log);
  // Before any client can ask for it: a verifier that has seen no key would keep that for a while.
  await ensureSigningKeys(context);
  tracing.active = createTracing(readPackageVersion());
  const gateway = buildGateway(database, keys, log, { ...config, persistedOperations });
  // By default a rejected promise that nothing waits for ends the process, and with it every other request.
  process.on('unhandledRejection', gateway.reportUnhandled);
  const following = setInterval(() => keys.refresh(), keyRefreshMs).unref();
  const listening = listen(gateway.server, config);
  const early = await Promise.race([listening.then(() => undefined), stop]);
  if (early !== undefined) {
    listening.then((listener) => listener.close(log)).catch(() => {}); // the process ends anyway
    await gateway.close();
    log.info(`${early}: stopped before listening`);
    return 0;
  }
  const listener = await listening;
  const { url } = listener;
  try {
    // Last, so that no failure can prevent it from being printed.
    const first = await issueFirstApiToken(context);
    if (first) showFirst(first, url, log);
  } catch (error) {
    gateway.server.close();
    gateway.server.closeAllConnections();
    await gateway.close();
    throw error;
  }
  const hasPlayground = config.playground && !persistedOperations;
  log.info(`listening on ${url}${hasPlayground ? ` (playground: ${url}/graphql)` : ''}`);
  const stopHousekeeping = startHousekeeping(database, config.auditRetentionDays, {
    onRemoved: (removed) => log.info(removed, 'housekeeping removed old rows'),
    onFailure: (error) => log.warn({ err: error }, 'housekeeping failed; it is tried again in an hour'),
  });

  const reason = await stop;
  gateway.drain();
  if (config.drainDelaySeconds > 0) {
    log.info(`${reason}: /readyz now responds with 503; closing the listener in ${config.drainDelaySeconds} s`);
    await sleep(config.drainDelaySeconds * 1_000);
  }
  log.info(`${reason}: draining in-flight requests, then exiting`);
  await listener.close(log);
  await stopHousekeeping();
  await gateway.close();
  clearInterval(following);
  log.info('stopped');
  return 0;
}

function warnOfOpenFiles({ poolSize }: Config, log: Logger): void {
  const { problem } = compareOpenFiles(poolSize);
  if (problem) log.warn(`${problem.found}. ${problem.remedy}`);
}

/** Logs that the API token of the setting is not accepted, or not as `admin`. @param stored one that was stored before. */
function warnOfBootstrapToken(stored: ApiTokenRecord | undefined, log: Logger): void {
  if (!stored) return;
  const problem = describeRefusal(stored) ?? (stored.scopes.includes('admin') ? undefined : 'It lacks the scope admin.');
  if (!problem) return;
  const remedy = 'Set BOOTSTRAP_API_TOKEN to another value, or remove it if it is not used any more.';
  log.warn(`BOOTSTRAP_API_TOKEN is the API token #${stored.id}, which was stored before. ${problem} ${remedy}`);
}

/** Prints the first API token, or logs that its secret is lost. */
function showFirst({ secret, apiToken }: IssuedApiToken, url: string, log: Logger): void {
  const reportLoss = (reason: string) => log.error(describeLostSecret(apiToken.id, reason));
  if (isClosed(1)) reportLoss('it is closed');
  else processIo.stdout.write(welcome(url, secret), (failure) => failure && reportLoss(failure.message));
}

/** What the first start prints: the only time that the secret is shown. */
function welcome(url: string, secret: string): string {
  const command = escapeControls(ownCommand(packageRoot, process.argv[1] ?? '', process.cwd()));
  return `
First start: created an API token for the Testing environment. It is shown only once:

  ${secret}

Create a user group (run it again to get the same one back):

  curl -sS -X GET ${url}/api/user -H 'Authorization: Token ${secret}' -H 'Content-Type: application/json' -d '{"user_group_id":"acme","name":"ACME"}'

Or open ${url} in a browser, and paste the API token in the playground.

To create an API token with full access to every environment, run this with the same settings:

  ${command} token create --name admin --environment none --scope admin

`;
}

/**
 * The command that runs another command of the same gateway from the current folder, without its arguments. It never makes npx
 * look in the package registry, where the name may belong to another package.
 *
 * @param root the folder of package.json.
 * @param script the file that Node.js runs.
 * @param folder the current folder.
 */
export function ownCommand(root: URL, script: string, folder: string): string {
  const checkout = fileURLToPath(root);
  const startScript = join(checkout, 'scripts/gateway.js');
  if (existsSync(startScript))
    return resolve(folder) === resolve(checkout) ? 'npm run -s gateway --' : nodeCommand(startScript, folder);
  return existsSync(join(folder, 'node_modules/.bin/user-group-gateway'))
    ? 'npx user-group-gateway'
    : nodeCommand(script, folder);
}

function nodeCommand(script: string, folder: string): string {
  const path = relative(folder, script);
  return `node ${shellWord(path.startsWith('..') ? script : path)}`;
}
