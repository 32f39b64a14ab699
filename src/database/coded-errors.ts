import pg from 'pg';

/** SQLSTATE of a connection that failed. */
export const connectionFailure = '08006';

/**
 * What the driver returns. Errors that it makes itself have no code, such as those of a lost connection, of an exhausted pool and
 * of a time that is over: they get the SQLSTATE of a connection that failed. Those of the server and the system have a code.
 */
export function withCode<Result>(result: Result): Result {
  if (!(result instanceof Promise)) return result; // of a call with a callback
  return result.catch((error) => {
    // Not a TypeError, for example: that would be a mistake in a statement's values.
    const isOwn = error instanceof Error && error.name === 'Error' && !(error instanceof pg.DatabaseError) && !('code' in error);
    throw isOwn ? Object.assign(error, { code: connectionFailure }) : error;
  }) as Result;
}

/** A connection whose errors have codes. */
export class CodedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the driver's own declaration has nine overloads; this one only passes on
  override query(...args: any[]): any {
    return withCode(super.query(...(args as [string])));
  }
}

/** A pool whose errors have codes. */
export class CodedPool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  override query(...args: any[]): any {
    return withCode(super.query(...(args as [string])));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  override connect(...args: any[]): any {
    return withCode(super.connect(...(args as [])));
  }
}
