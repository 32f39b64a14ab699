import { hrefOf, Link } from '../app/router.tsx';

/** Says what the events of a group do not have: an import has one event for its groups in an environment, and names none. */
export function ImportNote() {
  return (
    <p className="muted">
      Changes that an import made to it are not listed.{' '}
      <Link href={hrefOf('audit-log', { type: 'USER_GROUP_IMPORTED' })}>Show the imports</Link>
    </p>
  );
}
