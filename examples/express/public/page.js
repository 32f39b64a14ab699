import { createEmbedTokenProvider } from 'user-group-gateway-client';

const element = (id) => document.getElementById(id);
let tokens = 0;

const read = async (response) => {
  const body = await response.json();
  if (!response.ok) throw new Error(body.message);
  return body;
};

const provider = createEmbedTokenProvider(async (signal) => {
  const response = await read(await fetch('/embed-token', { signal }));
  tokens += 1;
  return response;
});

async function refresh() {
  try {
    const authorization = `Bearer ${await provider.getToken()}`;
    show(await read(await fetch('/dashboard-data', { headers: { authorization } })));
    element('status').textContent = `As of ${new Date().toLocaleTimeString()}`;
    element('dashboard').hidden = false;
  } catch ({ message }) {
    // Nothing of an earlier response: the group may be suspended since.
    element('status').textContent = message;
    element('dashboard').hidden = true;
  }
}

function show({ userGroup, viewer, exp, sales }) {
  element('customer').value = userGroup.providedId;
  element('group').textContent = `${userGroup.providedId} (team ${userGroup.teamId})`;
  element('viewer').textContent = viewer.name;
  element('properties').textContent = JSON.stringify(userGroup.properties);
  element('token').textContent = `no. ${tokens} of this page, valid until ${new Date(exp * 1000).toLocaleTimeString()}`;
  element('sales').replaceChildren(
    ...Object.entries(sales).map((cells) => {
      const row = document.createElement('tr');
      for (const cell of cells) row.insertCell().textContent = cell;
      return row;
    }),
  );
}

// The page may stay open for days: the provider renews the token before it expires.
setInterval(refresh, 10_000);
await refresh();
