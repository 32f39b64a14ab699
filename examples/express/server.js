// An application with an embedded dashboard. The application creates embed tokens for its customers; the dashboard trusts nothing
// else. Here they share a process, but might be two services.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { createEmbedTokenVerifier, EmbedTokenError, SuspendedError, UserGroupGateway } from 'user-group-gateway-client';

const { GATEWAY = 'http://127.0.0.1:4000', API_TOKEN, PORT = 3000, TOKEN_SECONDS = 900 } = process.env;
const audience = 'dashboards';

const app = express();
const folderOf = (url) => dirname(fileURLToPath(url));
app.use(express.static(join(folderOf(import.meta.url), 'public')));
// Your bundler does this for you: the page imports the client, too.
app.use('/client', express.static(folderOf(import.meta.resolve('user-group-gateway-client'))));

// The application

const gateway = new UserGroupGateway({ url: GATEWAY, apiToken: API_TOKEN });

/** Your database of customers. */
const customers = new Map([
  ['globex', { name: 'Globex', properties: { plan: 'gold', region: 'eu' } }],
  ['initech', { name: 'Initech', properties: { plan: 'free', region: 'us' } }],
]);

/** The id of the customer whose user is signed in. A stand-in for your sign-in: anyone can set this cookie. */
const signedIn = (request) => /(?:^|; )customer=(\w+)/.exec(request.headers.cookie)?.[1];

app.post('/sign-in', express.urlencoded(), async (request, response) => {
  const providedId = request.body?.customer;
  if (!customers.has(providedId)) return response.sendStatus(400);
  await gateway.userGroups.getOrCreate({ providedId, ...customers.get(providedId) });
  response.cookie('customer', providedId, { httpOnly: true, sameSite: 'lax' }).redirect('/');
});

app.get('/embed-token', async (request, response) => {
  const providedId = signedIn(request);
  if (!customers.has(providedId)) return response.status(401).json({ message: 'Sign in to see the dashboard.' });
  const viewer = { id: 'u-17', name: 'Ada' }; // the user who is signed in
  const options = { audience, viewer, includeProperties: true, expiresInSeconds: Number(TOKEN_SECONDS) };
  const { token } = await gateway.embedTokens.create({ by: { providedId }, ...options });
  response.set('cache-control', 'no-store').json({ token });
});

// The dashboard

const verify = createEmbedTokenVerifier({ url: GATEWAY, environment: 'Testing', audience });

/** Your data: what each user group may see. */
const sales = new Map([
  ['globex', { Berlin: 1210, Lyon: 845, Porto: 390 }],
  ['initech', { Austin: 1530, Denver: 615 }],
]);

app.get('/dashboard-data', async (request, response) => {
  const { sub, team_id, viewer, properties, exp } = await verify(request.get('authorization')?.replace('Bearer ', ''));
  response.json({ userGroup: { providedId: sub, teamId: team_id, properties }, viewer, exp, sales: sales.get(sub) });
});

// Both

app.use((error, _request, response, _next) => {
  if (error instanceof EmbedTokenError) return response.status(401).json({ message: error.message });
  if (error instanceof SuspendedError) return response.status(403).json({ message: 'Your account is suspended.' });
  console.error(error);
  response.status(503).json({ message: 'The dashboard is not available right now: the log of the application says why.' });
});

app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error; // the port is in use, for example
  console.log(`listening on http://127.0.0.1:${PORT}`);
});
