import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserGroupGateway } from '../../client/src/index.ts';
import { lacks, samplesOf } from '../support/example.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endProcesses, launch } from '../support/process.ts';

/** The system's: packages of Debian are not for one that was installed beside it. */
const python = '/usr/bin/python3';

describe.skipIf(lacks(python, ['-c', 'import jwt, cryptography'], 'python3-jwt python3-cryptography'))('PyJWT', () => {
  let gateway: TestGateway;
  let signer: UserGroupGateway;
  beforeAll(async () => {
    gateway = await startGateway();
    const { secret } = await gateway.issue({ scopes: ['embed:sign', 'groups:write'] });
    signer = new UserGroupGateway({ url: gateway.url, apiToken: secret });
  });
  afterAll(async () => {
    await endProcesses();
    await gateway.close();
  });

  /** What the sample of the README comes to: the claims, or the name of the error. */
  const verdict = async (token: string, change = (sample: string) => sample): Promise<unknown> => {
    const [, sample = ''] = samplesOf('examples/python/README.md', 'python', gateway);
    const script = `import json, sys
token = sys.argv[1]
def verify():
${change(sample).replace(/^/gm, '  ')}
  return claims
import jwt
try:
  print(json.dumps(verify()))
except jwt.PyJWTError as error:
  print(json.dumps(type(error).__name__))`;
    const { stdout, stderr } = await launch(python, ['-c', script, token], {}).ended;
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  test('verifies embed tokens with the published keys, and rejects those for others', async () => {
    const { userGroup } = await signer.userGroups.getOrCreate({ providedId: 'acme', properties: { plan: 'gold' } });
    const { token } = await signer.embedTokens.create({
      by: { id: userGroup.id },
      audience: 'dashboards',
      viewer: { id: 'u-17', name: 'Ada Müller' },
      resources: ['sales-overview'],
      includeProperties: true,
    });
    expect(await verdict(token)).toMatchObject({
      sub: 'acme',
      team_id: userGroup.teamId,
      env: 'Testing',
      viewer: { id: 'u-17', name: 'Ada Müller' },
      resources: ['sales-overview'],
      properties: { plan: 'gold' },
    });
    expect(await verdict(token, (sample) => sample.replace('dashboards', 'reports'))).toBe('InvalidAudienceError');
    expect(await verdict(token, (sample) => sample.replace('/testing', '/customer'))).toBe('InvalidIssuerError');
    const [header, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ sub: 'other', aud: 'dashboards', exp: 9_999_999_999 })).toString('base64url');
    expect(await verdict(`${header}.${claims}.${signature}`)).toBe('InvalidSignatureError');
  });
});
