import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
};

/** Compiles the TypeScript files of a folder in strict mode. @returns nothing. @throws Error with the compiler's output. */
export function compileFolder(folder: string): string {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  return execFileSync('npx', ['tsc', '-p', folder], { encoding: 'utf8', shell: process.platform === 'win32' });
}
