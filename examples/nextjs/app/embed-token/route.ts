import { createGateway, signedInCustomer } from '../customers';

/** Creates an embed token for the customer whose user is signed in. */
export async function GET() {
  const customer = await signedInCustomer();
  if (!customer) return Response.json({ message: 'Sign in to see the dashboard.' }, { status: 401 });
  const { token } = await createGateway().embedTokens.create({
    by: { providedId: customer.providedId },
    audience: 'dashboards',
    viewer: { id: 'u-17', name: 'Ada' }, // the user who is signed in
  });
  return Response.json({ token }, { headers: { 'cache-control': 'no-store' } });
}
