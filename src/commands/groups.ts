import { groupsHelp } from './groups-arguments.ts';
import { exportGroups } from './groups-export.ts';
import { importGroups } from './groups-import.ts';
import { runAction, type Streams } from './options.ts';

/**
 * `groups import|export`: moves user groups from and to files. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export const groups = (args: string[], io: Streams): Promise<number> =>
  runAction('groups', groupsHelp, { import: importGroups, export: exportGroups }, args, io);
