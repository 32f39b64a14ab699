import { cookies } from 'next/headers';
import { UserGroupGateway } from 'user-group-gateway-client';

/** The gateway, called from the server only. Not created once for all: a build has no API token. */
export const createGateway = () =>
  new UserGroupGateway({ url: process.env.GATEWAY ?? 'http://127.0.0.1:4000', apiToken: process.env.API_TOKEN ?? '' });

/** Your database of customers. */
export const customers = [
  { providedId: 'globex', name: 'Globex', properties: { plan: 'gold', region: 'eu' } },
  { providedId: 'initech', name: 'Initech', properties: { plan: 'free', region: 'us' } },
];

/** The customer whose user is signed in. A stand-in for your sign-in: anyone can set this cookie. */
export async function signedInCustomer() {
  const id = (await cookies()).get('customer')?.value;
  return customers.find(({ providedId }) => providedId === id);
}
