import { hrefOf } from './router.tsx';

/** A page of the gateway that is not a part of the console. */
export interface OutsidePage {
  readonly href: string;
  readonly title: string;
}

/** The other pages of the gateway, as their own header has them: which there are depends on its settings. */
export const outsidePages: readonly OutsidePage[] = readHeader();

function readHeader(): OutsidePage[] {
  const template = document.querySelector<HTMLTemplateElement>('#gateway-header');
  const links = template?.content.querySelectorAll<HTMLAnchorElement>('nav a') ?? [];
  return [...links]
    .map((link) => ({ href: new URL(link.getAttribute('href') ?? '', document.baseURI).href, title: link.textContent }))
    .filter(({ href }) => new URL(href).pathname !== hrefOf(''));
}
