import { hrefOf } from './router.tsx';

/** A page of the gateway that is not a part of the console. */
export interface OutsidePage {
  readonly href: string;
  readonly title: string;
}

/** The other pages of the gateway, which depend on the settings of the gateway. */
export const outsidePages: readonly OutsidePage[] = [...document.querySelectorAll<HTMLAnchorElement>('#pages a')]
  .map(({ href, textContent }) => ({ href, title: textContent }))
  .filter(({ href }) => new URL(href).pathname !== hrefOf(''));
