import { cookies } from 'next/headers';
import { createGateway, customers, signedInCustomer } from './customers';
import { EmbedTokenStatus } from './embed-token-status';

async function signIn(form: FormData) {
  'use server';
  (await cookies()).set('customer', String(form.get('customer')), { httpOnly: true, sameSite: 'lax' });
}

export default async function Page() {
  const customer = await signedInCustomer();
  return (
    <>
      <form action={signIn}>
        <label htmlFor="customer">Sign in as a user of</label>{' '}
        <select id="customer" name="customer" key={customer?.providedId} defaultValue={customer?.providedId}>
          {customers.map(({ providedId, name }) => (
            <option key={providedId} value={providedId}>
              {name}
            </option>
          ))}
        </select>{' '}
        <button type="submit">Sign in</button>
      </form>
      {customer ? <Viewer key={customer.providedId} customer={customer} /> : <p>Sign in to see your user group.</p>}
    </>
  );
}

async function Viewer({ customer }: { customer: (typeof customers)[number] }) {
  const { userGroup } = await createGateway().userGroups.getOrCreate(customer);
  return (
    <main>
      <h1>{userGroup.name}</h1>
      <dl>
        <dt>User group</dt>
        <dd>
          {userGroup.providedId} (team {userGroup.teamId})
        </dd>
        <dt>Properties</dt>
        <dd>{JSON.stringify(userGroup.properties)}</dd>
        <dt>Embed token</dt>
        <dd>
          <EmbedTokenStatus />
        </dd>
      </dl>
    </main>
  );
}
