import { Component, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { type Failure, toFailure } from '../graphql/failure.ts';
import type { Scope } from '../graphql/generated.ts';
import { scopeName } from '../graphql/names.ts';
import { AllEnvironmentsBadge, choiceOf, EnvironmentBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { MessagesProvider } from '../ui/messages.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { outsidePages } from './outside-pages.ts';
import { pages } from './pages.ts';
import { hrefOf, Link, mayLeave, outsideHref, usePlace } from './router.tsx';
import { useSession } from './session.tsx';

/** What surrounds every page: who is signed in, where, and the navigation. */
export function Shell() {
  const { page: name } = usePlace();
  const page = pages.find((candidate) => candidate.name === name);
  const { caller, can } = useSession();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · Console · User group gateway`;
    // As a browser does with a new page: screen readers and the keyboard start at its beginning.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [page]);

  return (
    <MessagesProvider>
      <a
        className="skip-link"
        // Not "#main", which would be relative to the base URL of the page.
        href={`${location.pathname}${location.search}#main`}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <TopBar />
      {can('ADMIN') ? (
        <p className="environment-strip">
          <strong>Every environment.</strong> Customer groups are among them: changes concern real customers, at once.
        </p>
      ) : (
        caller.environmentTag === 'CUSTOMER' && (
          <p className="environment-strip">
            <strong>Customer environment.</strong> Changes concern groups of real customers, at once.
          </p>
        )
      )}
      <div className="layout">
        <Navigation current={name} />
        <main id="main" ref={main} tabIndex={-1}>
          {!page && (
            <>
              <h1 className="visually-hidden">Not found</h1>
              <EmptyState title="There is no such page">
                <p>
                  The console has no page <code>{name}</code>. <Link href={hrefOf('')}>Go to the overview</Link>
                </p>
              </EmptyState>
            </>
          )}
          {page?.scope && !can(page.scope) && <MissingScope title={page.title} scope={page.scope} />}
          {page && (!page.scope || can(page.scope)) && (
            <ErrorBoundary key={page.name}>
              <Suspense fallback={<LoadingRows />}>
                <page.component />
              </Suspense>
            </ErrorBoundary>
          )}
        </main>
      </div>
    </MessagesProvider>
  );
}

function TopBar() {
  const { caller, can, signOut } = useSession();
  const isAdmin = can('ADMIN');
  return (
    <header className={`top-bar environment-${isAdmin ? 'customer' : choiceOf(caller.environmentTag).toLowerCase()}`}>
      <Link className="home" href={hrefOf('')}>
        <img src={outsideHref('favicon.ico')} width="24" height="24" alt="" />
        <span>User group gateway</span>
      </Link>
      <div className="identity">
        {isAdmin ? <AllEnvironmentsBadge /> : <EnvironmentBadge tag={caller.environmentTag} />}
        <span className="identity-name" title={`API token ${caller.number}`}>
          <span className="visually-hidden">Signed in with the API token </span>
          {caller.name}
        </span>
        <details className="scopes">
          <summary>
            {caller.scopes.length} {caller.scopes.length === 1 ? 'scope' : 'scopes'}
          </summary>
          <ul aria-label="Scopes of the API token">
            {caller.scopes.map((scope) => (
              <li key={scope}>
                <code>{scopeName(scope)}</code>
              </li>
            ))}
          </ul>
        </details>
      </div>
      <Button className="small" onClick={() => mayLeave() && signOut()}>
        Sign out
      </Button>
    </header>
  );
}

function Navigation({ current }: { readonly current: string }) {
  const { can } = useSession();
  const element = useRef<HTMLElement>(null);
  // On a phone the navigation is one row that is scrolled sideways.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page has another link
  useEffect(() => {
    const link = element.current?.querySelector<HTMLElement>('[aria-current]');
    if (link && element.current) element.current.scrollLeft = link.offsetLeft - 32;
  }, [current]);
  return (
    <nav className="navigation" aria-label="Pages" ref={element}>
      <ul>
        {pages
          .filter(({ isListed }) => isListed)
          .map(({ name, title, scope }) => (
            <li key={name}>
              <Link
                href={hrefOf(name)}
                className={scope && !can(scope) ? 'unavailable' : undefined}
                // The page of one item, such as `group`, is below the list of them.
                aria-current={name === current || name === `${current}s` ? 'page' : undefined}
              >
                {title}
              </Link>
            </li>
          ))}
      </ul>
      <ul className="outside">
        {outsidePages.map(({ href, title }) => (
          <li key={href}>
            <a href={href}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function MissingScope({ title, scope }: { readonly title: string; readonly scope: Scope }) {
  const { caller } = useSession();
  return (
    <>
      <header className="page-header">
        <h1>{title}</h1>
      </header>
      <EmptyState title="Your API token may not see this">
        <p>
          This page requires the scope <code>{scopeName(scope)}</code>. The API token <strong>{caller.name}</strong> has{' '}
          {caller.scopes.map((held, index) => (
            <span key={held}>
              {index > 0 && ', '}
              <code>{scopeName(held)}</code>
            </span>
          ))}
          . Sign out, and sign in with one that has it.
        </p>
      </EmptyState>
    </>
  );
}

/** Shows why a page could not be shown. */
class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly failure?: Failure }> {
  override state: { readonly failure?: Failure } = {};

  static getDerivedStateFromError(error: unknown) {
    return { failure: toFailure(error) };
  }

  override render() {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    return (
      <FailureNotice
        title="The page cannot be shown"
        failure={failure}
        onRetry={() => location.reload()}
        retryLabel="Reload the page"
      />
    );
  }
}
