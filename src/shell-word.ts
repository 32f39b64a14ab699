/** A path as one argument of a command line that a person copies. */
export function shellWord(path: string): string {
  if (/^[\w./:@+-]+$/.test(path)) return path;
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}
