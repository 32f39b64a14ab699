import { hrefOf, Link } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';

/** Says what the events of a group do not have: an import is one event for all of its groups, and names none. */
export function ImportNote() {
  const { can } = useSession();
  return (
    <p className="muted">
      Changes that an import made to it are not listed.{' '}
      {can('ADMIN') && <Link href={hrefOf('audit-log', { type: 'USER_GROUP_IMPORTED' })}>Show the imports</Link>}
    </p>
  );
}
