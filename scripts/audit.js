// Asks the registry for known vulnerabilities of everything that is installed here. Exits with 1 for one of severity high or
// critical, and with 3 if the registry cannot be asked: then nothing is known.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

let status = 0;
for (const folder of ['', 'tools/', 'bench/']) {
  const result = spawnSync('npm', ['audit', '--package-lock-only', '--json'], {
    cwd: fileURLToPath(new URL(`../${folder}`, import.meta.url)),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  const { metadata, vulnerabilities, message } = parse(result.stdout);
  const packages = metadata?.dependencies?.total;
  if (!metadata || !vulnerabilities || !(packages > 0)) {
    process.stdout.write(`${folder}package-lock.json: not checked: ${message ?? 'the registry gave no answer'}\n`);
    status ||= 3;
    continue;
  }
  const serious = Object.values(vulnerabilities).filter(({ severity }) => severity === 'high' || severity === 'critical');
  process.stdout.write(
    `${folder}package-lock.json: ${serious.length} of severity high or critical, ${metadata.vulnerabilities.total} in all, of ${packages} packages\n`,
  );
  for (const { name, severity, range } of serious) process.stdout.write(`  ${severity}: ${name} ${range}\n`);
  if (serious.length > 0) status = 1;
}
process.exitCode = status;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
