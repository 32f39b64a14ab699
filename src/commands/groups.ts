import type { GroupsIo } from './groups-arguments.ts';
import { groupsHelp } from './groups-arguments.ts';
import { exportGroups } from './groups-export.ts';
import { importGroups } from './groups-import.ts';
import { UsageError } from './options.ts';

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
