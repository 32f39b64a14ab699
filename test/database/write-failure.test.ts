import pg from 'pg';
import { expect, test } from 'vitest';
import { describeWriteFailure } from '../../src/database/backup/backup-target.ts';

const ofFile = (code: string) => Object.assign(new Error(`${code}: of a file`), { code, syscall: 'write' });
const ofConnection = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
const ofServer = Object.assign(new pg.DatabaseError('could not extend file: No space left on device', 0, 'error'), {
  code: '53100',
});
const used = new Error('It was used by a gateway. Stop the gateway.');

test.each([
  [ofFile('ENOSPC'), [], 'No space is left for /b. What was written was removed. Free space, or choose another file system.'],
  [
    ofFile('EDQUOT'),
    ['/b'],
    'No space is left for /b. Delete /b, which could not be removed. Free space, or choose another file system.',
  ],
  [ofFile('EIO'), [], '/b could not be written completely: EIO: of a file. What was written was removed.'],
  [
    ofFile('EIO'),
    ['/b/x', '/c/x'],
    '/b could not be written completely: EIO: of a file. Delete /b/x and /c/x, which could not be removed.',
  ],
  [ofConnection, [], 'read ECONNRESET'],
  [
    ofServer,
    ['/b/x'],
    'PostgreSQL reported: could not extend file: No space left on device (53100). Free space on the disk of the database, and run ' +
      'the command again. Delete /b/x, which could not be removed.',
  ],
  [used, [], used.message],
  [used, ['/b/x'], 'It was used by a gateway. Stop the gateway. Delete /b/x, which could not be removed.'],
])('says what failed, and what is left (%s, %j)', (error, left, text) => {
  expect((describeWriteFailure(error, '/b', left) as Error).message).toBe(text);
});
