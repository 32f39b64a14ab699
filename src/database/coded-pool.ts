import pg from 'pg';
import { withCode } from './errors.ts';

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
