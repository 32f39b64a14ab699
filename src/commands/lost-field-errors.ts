import type { Logger } from 'pino';

/**
 * Logs errors of GraphQL fields that nothing waits for, instead of ending the process with all requests that it is executing:
 * graphql-js leaves them behind in a list that another item has ended. Every other rejection without a handler ends the process,
 * as it does by default.
 */
export function logLostFieldErrors(log: Logger): void {
  process.on('unhandledRejection', (reason) => {
    if (!(reason instanceof Error) || reason.name !== 'GraphQLError') throw reason;
    log.error({ err: reason }, 'a field of a list failed after its response was sent');
  });
}
