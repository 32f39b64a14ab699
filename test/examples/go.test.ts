import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkConformance, conformanceCases } from '../support/conformance.ts';
import { checkUnavailable, checkViewer, dataStatus, startEmbedBackend } from '../support/embed-backend.ts';
import { lacks, runInProcess, samplesOf, signedWebhook } from '../support/example.ts';
import { startGateway } from '../support/gateway.ts';
import { endProcesses, launch } from '../support/process.ts';

const module = fileURLToPath(new URL('../../examples/go', import.meta.url));
let folder: string;
let runner: string;

/** Compiles a program of the example. */
async function build(program: string, args: string[]): Promise<void> {
  const { code, stderr } = await launch('go', ['build', '-buildvcs=false', '-o', program, ...args], {}, { cwd: module }).ended;
  expect([code, stderr]).toEqual([0, '']);
}

/** Compiles a program as if it were in a folder of the example, which users copy without it. */
async function buildBeside(program: string, source: string): Promise<void> {
  const overlay = `${program}.json`;
  writeFileSync(overlay, JSON.stringify({ Replace: { [join(module, 'beside/main.go')]: source } }));
  await build(program, ['-overlay', overlay, './beside']);
}

const cases = conformanceCases(['verifyEmbedToken']);

describe.skipIf(lacks('go', ['version'], 'golang-go'))('Go', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-go-'));
    runner = join(folder, 'conformance');
    await buildBeside(runner, fileURLToPath(new URL('conformance.go', import.meta.url)));
  });
  afterAll(async () => {
    await endProcesses();
    rmSync(folder, { recursive: true, force: true });
  });

  test.concurrent.each(cases)('$name', (testCase) =>
    checkConformance(testCase, (runnable) => runInProcess(runner, [], runnable)),
  );

  test('the example is formatted, and vet finds nothing', async () => {
    for (const [program, args] of [
      ['gofmt', ['-l', '.', fileURLToPath(new URL('.', import.meta.url))]],
      ['go', ['vet', './...']],
    ] as const) {
      const { code, stdout, stderr } = await launch(program, [...args], {}, { cwd: module }).ended;
      expect([program, code, stdout, stderr]).toEqual([program, 0, '', '']);
    }
  });

  test('the embed backend shows the group of a token, and nothing to anyone else', async () => {
    const backend = join(folder, 'backend');
    await build(backend, ['.']);
    const started = await startEmbedBackend((given) => launch(backend, [], given));
    const embedToken = await checkViewer(started);
    await started.client.userGroups.suspend({ by: { providedId: 'acme' } });
    await checkUnavailable(started);
    // It verifies with the public keys, and needs no gateway for that.
    expect(await dataStatus(started, embedToken)).toBe(200);
  });

  test('the embed backend says that it failed, whatever the error, unless the browser has gone', async () => {
    const overlay = join(folder, 'handle.json');
    const source = join(folder, 'handle_test.go');
    writeFileSync(overlay, JSON.stringify({ Replace: { [join(module, 'handle_test.go')]: source } }));
    writeFileSync(
      source,
      `package main
import ("context"; "errors"; "fmt"; "net/http"; "net/http/httptest"; "testing")
func TestHandle(t *testing.T) {
for status, err := range map[int]error{500: errors.New("unknown"), 200: fmt.Errorf("sending: %w", context.Canceled)} {
recorder := httptest.NewRecorder()
handle(func(http.ResponseWriter, *http.Request) error { return err })(recorder, nil)
if recorder.Code != status { t.Errorf("%v: %d", err, recorder.Code) }
}
}`,
    );
    const { code, stdout } = await launch('go', ['test', '-vet=off', '-overlay', overlay, '.'], {}, { cwd: module }).ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok/)]);
  });

  test('the sample of the README works', async () => {
    const gateway = await startGateway();
    onTestFinished(() => gateway.close());
    const { secret: API_TOKEN } = await gateway.issue({ scopes: ['groups:write', 'groups:read', 'embed:sign'] });
    const [sample = ''] = samplesOf('examples/go/README.md', 'go', gateway);
    const { secret, headers, body } = signedWebhook();
    const source = join(folder, 'sample.go');
    writeFileSync(
      source,
      `package main
import ("context"; "encoding/json"; "net/http"; "os"; "time"; "example.com/embed-backend/usergroupgateway")
func main() {
ctx, request := context.Background(), http.Request{Header: http.Header{}}
secret, body := ${JSON.stringify(secret)}, []byte(${JSON.stringify(body)})
${Object.entries(headers)
  .map(([name, value]) => `request.Header.Set("${name}", "${value}")`)
  .join('\n')}
${sample}
json.NewEncoder(os.Stdout).Encode([]any{created, group, viewer, until, claims, event, err})
}`,
    );
    await buildBeside(join(folder, 'sample'), source);
    const { stdout, stderr } = await launch(join(folder, 'sample'), [], { API_TOKEN }).ended;
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject([
      true,
      { providedId: 'acme', properties: { plan: 'gold' } },
      { name: 'ACME', token: '' },
      expect.stringMatching(/^\d{4}-/),
      { sub: 'acme', aud: 'dashboards' },
      { type: 'user_group.updated', data: { team_id: 7 } },
      null,
    ]);
  });

  test('a text that is not UTF-8 is refused: the gateway would get another one', async () => {
    const source = join(folder, 'invalid.go');
    writeFileSync(
      source,
      `package main
import ("context"; "fmt"; "example.com/embed-backend/usergroupgateway")
func main() {
client, _ := usergroupgateway.New("http://127.0.0.1:1", "token")
_, _, err := client.GetOrCreate(context.Background(), usergroupgateway.GetOrCreateInput{ProvidedID: "acme\\xff"})
fmt.Print(err, "\\n")
// Of a browser's, it is no token.
fmt.Print(client.ResolveViewer(context.Background(), "ugt_\\xff"))
}`,
    );
    await buildBeside(join(folder, 'invalid'), source);
    const { stdout, stderr } = await launch(join(folder, 'invalid'), [], {}).ended;
    expect([stdout, stderr]).toEqual(['a text is not valid UTF-8\n<nil> <nil>', '']);
  });

  test('properties of which JSON sees nothing are refused: they would be cleared', async () => {
    const source = join(folder, 'unexported.go');
    writeFileSync(
      source,
      `package main
import ("context"; "fmt"; "time"; "example.com/embed-backend/usergroupgateway")
type embedded struct { Plan string }
type Plan string
func main() {
client, _ := usergroupgateway.New("http://127.0.0.1:1", "token")
client.Retries = 0
for _, properties := range []any{
struct { plan string }{"gold"}, &struct { plan string }{"gold"}, struct { Plan string \`json:"-"\` }{"gold"},
struct { plan string \`json:"plan,omitempty"\` }{"gold"}, struct { *embedded }{},
struct { Plan, region string }{}, struct { embedded }{}, struct { Plan }{"gold"}, struct { Plan string \`json:",omitempty"\` }{}, struct {}{}, map[string]any{}, time.Now(), nil,
} {
update := usergroupgateway.UpdateInput{By: usergroupgateway.By{TeamID: 1}, MergeProperties: properties}
_, updated := client.Update(context.Background(), update)
_, _, created := client.GetOrCreate(context.Background(), usergroupgateway.GetOrCreateInput{ProvidedID: "a", Properties: properties})
fmt.Printf("%T %T ", updated, created)
}
}`,
    );
    await buildBeside(join(folder, 'unexported'), source);
    const { stdout, stderr } = await launch(join(folder, 'unexported'), [], {}).ended;
    const [refused, sent] = ['*errors.errorString', '*usergroupgateway.GatewayError'].map((type) => [type, type]);
    expect([stdout.trim().split(' '), stderr]).toEqual([
      [refused, refused, refused, refused, sent, sent, sent, sent, sent, sent, sent, sent, sent].flat(),
      '',
    ]);
  });
});
