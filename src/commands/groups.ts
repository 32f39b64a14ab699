import type { Readable, Writable } from 'node:stream';
import { exportGroups } from './groups-export.ts';
import { importGroups } from './groups-import.ts';
import { groupsHelp } from './groups-text.ts';
import { UsageError } from './usage-error.ts';

/** The streams of `groups`: for input, for the result, and for progress. */
export interface GroupsIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/**
 * `groups import|export`: moves user groups from and to files. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export async function groups([action, ...args]: string[], io: GroupsIo = process): Promise<number> {
  if (action === '--help' || args.includes('--help')) {
    io.stdout.write(groupsHelp);
    return 0;
  }
  switch (action) {
    case 'import':
      return importGroups(args, io);
    case 'export':
      return exportGroups(args, io);
    default:
      throw new UsageError(`${action ? `Unknown command "groups ${action}".` : 'No subcommand was given.'}\n\n${groupsHelp}`);
  }
}
