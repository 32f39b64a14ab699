import { mediaTypes } from '../media-types.ts';
import type { Operation } from './openapi.ts';

/**
 * The request that the examples in an operation's parameters and body describe, as a curl command. It reads variables of the
 * environment, such as `$API_TOKEN`.
 */
export function curlExample(method: string, path: string, { security, parameters = [], requestBody }: Operation): string {
  const query = parameters.flatMap(({ name, example }): [string, string][] => {
    if (Array.isArray(example)) return [[name, example.join()]];
    return example === undefined ? [] : [[name, String(example)]];
  });
  const content = requestBody?.content ?? {};
  const form = Object.entries((content[mediaTypes.form]?.example ?? {}) as Record<string, string>);
  const json = content[mediaTypes.json]?.example;
  const option = `${query.length === 0 ? '' : '-G '}${method === 'GET' ? '' : `-X ${method} `}`;
  return [
    `curl -sS ${option}"$GATEWAY${path}"`,
    ...(security.length > 0 ? ['-H "Authorization: Token $API_TOKEN"'] : []),
    ...[...query, ...form].map(([name, value]) => `--data-urlencode ${quoteForShell(`${name}=${value}`)}`),
    ...(json === undefined ? [] : [`-H 'Content-Type: ${mediaTypes.json}'`, `-d ${quoteForShell(JSON.stringify(json))}`]),
  ].join(' \\\n  ');
}

/** Text as one word of POSIX shell, in which only variables of the environment are expanded. */
function quoteForShell(text: string): string {
  const expanded = text.replaceAll("'", "'\\''").replace(/\$([A-Z][A-Z_]*)/g, (name) => `'"${name}"'`);
  return `'${expanded}'`.replace(/(?<=.)''$/, '');
}
