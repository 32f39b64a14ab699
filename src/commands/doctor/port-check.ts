import { get } from 'node:http';
import { listenProblem, tryListening } from '../listen.ts';
import { type CheckContext, failure, type Outcome, ok } from './check.ts';

/** How long the program at the port may take to respond. */
const responseTimeoutMs = 2_000;

/** The most of a response that is read. */
const maxResponseCharacters = 1_000;

/** Whether `serve` can listen, or already does. */
export async function checkPort({ config: { host, port } }: CheckContext): Promise<Outcome> {
  if (port === 0) return ok('the system chooses one');
  const place = `${host}:${port}`;
  const user = await identify(host, port);
  if (user === 'a gateway') return ok(`a gateway listens on ${place}; another one needs another PORT`);
  if (user === 'another program')
    return failure(`another program listens on ${place}`, 'Stop that program, or set PORT to a free port.');
  const problem = await tryListening(host, port);
  if (!problem) return ok(`${place} is free`);
  const [found = '', ...remedy] = listenProblem(problem).split(/(?<=[.;]) /);
  return failure(`cannot listen on ${place}: ${found}`, remedy.join(' '));
}

/** What accepts connections at a port. */
function identify(host: string, port: number): Promise<'a gateway' | 'another program' | 'nothing'> {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return new Promise((resolve) => {
    let connected = false;
    let responded = false;
    const request = get({ host: reachable, port, path: '/livez', agent: false }, (response) => {
      responded = true;
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > maxResponseCharacters) response.destroy();
      });
      response.once('close', () => resolve(text.includes('"status":"alive"') ? 'a gateway' : 'another program'));
    });
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        connected = true;
      });
    });
    const deadline = setTimeout(() => request.destroy(), responseTimeoutMs);
    request.once('error', () => {}); // followed by 'close'
    request.once('close', () => {
      clearTimeout(deadline);
      if (!responded) resolve(connected ? 'another program' : 'nothing');
    });
  });
}
