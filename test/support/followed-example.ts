import type { TestGateway } from './gateway.ts';
import { snippetsOf } from './snippets.ts';

/** What an example that follows changes needs to go on. */
export type FollowState = Readonly<Record<string, unknown>>;

/** The environments that a follower reads. */
const followedEnvironments = ['Customer', 'Testing', null] as const;

/** Loads the JavaScript example of a page, and issues an API token of each environment that may write, and one that reads all. */
export async function loadFollowedExample<Example>(page: string, gateway: TestGateway) {
  const [example = ''] = snippetsOf(page)
    .filter(({ language }) => language === 'js')
    .map(({ text }) => `data:text/javascript,${encodeURIComponent(text)}`);
  const module: Example = await import(/* @vite-ignore */ example);
  const issued = followedEnvironments.map((environment) => gateway.issue({ environment, scopes: ['groups:write'] }));
  const writers = (await Promise.all(issued)).map(({ secret }) => secret);
  const { secret: reader } = await gateway.issue({ environment: null, scopes: ['admin'] });
  return { module, writers, reader };
}
