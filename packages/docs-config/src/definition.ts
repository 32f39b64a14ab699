import { z } from 'zod';
import { type Annotations, annotate } from './annotations.ts';

const text = (description: string, annotations: Annotations = {}) => annotate(z.string().describe(description), annotations);
const flag = (description: string) => z.boolean().describe(description);
const expected: Annotations = { absent: 'missing-field', filled: true };

const hexColor = (description: string) =>
  z
    .string()
    .regex(/^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)
    .describe(`${description} Written as \`#rgb\` or \`#rrggbb\`.`);

const iconType = () =>
  z.enum(['brands', 'duotone', 'light', 'sharp-solid', 'solid', 'thin']).describe('Style of the icon.').default('duotone');

const link = (what: string) =>
  z.object({
    name: text(`Text of the ${what}.`, expected).optional(),
    url: text(`URL of the ${what}.`, expected).optional(),
  });

const page = text('Path of a page, without its file extension.', { refersTo: 'page', filled: true });

/** A group of pages in the navigation. */
const group = z
  .object({
    group: text('Heading of the group.', { absent: 'missing-field' }).optional(),
    get pages() {
      return pages.optional();
    },
  })
  .describe('A group of pages under one heading.')
  .meta({ id: 'Group' });

const pages: z.ZodArray<z.ZodUnion<readonly [z.ZodString, typeof group]>> = annotate(
  z
    .array(annotate(z.union([page, group]).describe('A page, by its path.'), { nested: true }))
    .describe('Pages of the group, in the order in which they are shown.'),
  expected,
);

const logo = z
  .union([
    text('Path of the logo, for both modes.', { refersTo: 'file' }),
    z
      .object({
        light: text('Path of the logo in light mode.', { absent: 'missing-field', refersTo: 'file' }).optional(),
        dark: text('Path of the logo in dark mode.', { absent: 'missing-field', refersTo: 'file' }).optional(),
        href: text('URL that a click on the logo opens.').default('/'),
      })
      .describe('A logo for each mode.'),
  ])
  .describe('Path of the logo, or an object with a path for each mode and the URL that a click opens.');

const colors = z
  .object({
    primary: hexColor('The accent in light mode.'),
    light: hexColor('The accent in dark mode.').optional(),
    dark: hexColor('The color of important buttons.').optional(),
    background: z
      .object({
        light: annotate(hexColor('The background in light mode.'), { absent: 'background-incomplete' }),
        dark: annotate(hexColor('The background in dark mode.'), { absent: 'background-incomplete' }),
      })
      .describe('Background colors, for both modes or for none.')
      .optional(),
  })
  .describe('Colors of the site.');

const callToAction = annotate(
  z
    .object({
      type: z
        .enum(['link', 'github'])
        .describe('`link` is a button with a name; `github` shows information about the repository at the URL.')
        .default('link'),
      url: text('URL that the button opens, or the URL of the repository.', expected).optional(),
      name: text('Text of the button; required unless the type is `github`.', { filled: true }).optional(),
    })
    .describe('The button at the right end of the top bar.'),
  { when: { field: 'type', is: 'link', orAbsent: true, requires: 'name' } },
);

const anchor = z
  .object({
    icon: text('Name of the icon.').optional(),
    name: text('Text of the anchor.', expected).optional(),
    url: text('Path prefix (a folder name) of the pages that belong to the anchor, or an absolute URL.', {
      ...expected,
      refersTo: 'pages-below',
    }).optional(),
    color: z
      .union([
        hexColor('Color of the icon.'),
        z
          .object({
            from: annotate(hexColor('Start color of the gradient.'), { absent: 'missing-field' }).optional(),
            to: annotate(hexColor('End color of the gradient.'), { absent: 'missing-field' }).optional(),
          })
          .describe('A gradient.'),
      ])
      .describe('Color of the icon: one, or a gradient.')
      .optional(),
    version: text('Hides the anchor until this version is selected.', { refersTo: 'version' }).optional(),
    isDefaultHidden: flag('Hides the anchor until the reader opens a page inside it.').default(false),
    iconType: iconType(),
  })
  .describe('A link above the navigation that also marks the pages that belong to it.');

const topAnchor = z
  .object({
    name: text('Text of the first anchor.', { filled: true }).default('Documentation'),
    icon: text('Name of the icon.').default('book-open'),
    iconType: iconType(),
  })
  .describe('The first anchor, which links to the documentation itself.');

const api = z
  .object({
    baseUrl: z
      .union([z.string(), z.array(z.string())])
      .describe('Base URL of requests; if there are several, the reader can choose.')
      .optional(),
    auth: annotate(
      z
        .object({
          method: z.enum(['bearer', 'basic', 'key']).describe('How requests are authenticated.').optional(),
          name: text('Name of the credential; with method `basic` written as `[usernameName]:[passwordName]`.', {
            filled: true,
          }).optional(),
          inputPrefix: text('Prefix of the value that the reader enters.').optional(),
        })
        .describe('How the playground authenticates.'),
      { when: { field: 'method', is: 'basic', form: { field: 'name', pattern: '^[^:]+:[^:]+$' } } },
    ).optional(),
    playground: z
      .object({
        mode: z
          .enum(['show', 'simple', 'hide'])
          .describe('`show` lets the reader send requests, `simple` shows only the URL to copy, `hide` shows nothing.')
          .default('show'),
      })
      .describe('The API playground.')
      .prefault({}),
    maintainOrder: flag('Keeps the order of keys in the OpenAPI file.').optional(),
  })
  .describe('Settings of the API reference.');

const platform = (name: string) => text(`URL of the profile on ${name}.`, { filled: true }).optional();

const footerSocials = annotate(
  z
    .object({
      website: text('URL of the website.', { filled: true }).optional(),
      facebook: platform('Facebook'),
      twitter: platform('X, formerly Twitter'),
      discord: platform('Discord'),
      slack: platform('Slack'),
      github: platform('GitHub'),
      linkedin: platform('LinkedIn'),
      instagram: platform('Instagram'),
      'hacker-news': platform('Hacker News'),
    })
    .describe('Profiles that the footer links to, by platform.'),
  {
    platforms: true,
    aliases: { x: 'twitter', 'x.com': 'twitter', hn: 'hacker-news', ycombinator: 'hacker-news', homepage: 'website' },
  },
);

/**
 * The single definition of the configuration file. Types, defaults, descriptions, the JSON Schema and the rules derive from it.
 */
export const docsConfig = annotate(
  z
    .object({
      name: text('Name of the project, shown in titles.', { filled: true }),
      navigation: annotate(z.array(group).describe('Groups of pages, in the order in which they are shown.'), { filled: true }),
      logo: logo.optional(),
      favicon: text('Path of the icon that browsers show.', { refersTo: 'file' }).optional(),
      colors: colors.optional(),
      topbarLinks: z.array(link('link').describe('A link in the top bar.')).describe('Links in the top bar.').optional(),
      topbarCtaButton: callToAction.optional(),
      versions: z
        .array(text('Name of a version.', { declaresVersion: true }))
        .describe('Versions of the documentation, for a dropdown to choose one.')
        .optional(),
      anchors: z.array(anchor).describe('Anchors above the navigation.').optional(),
      topAnchor: topAnchor.prefault({}),
      tabs: z
        .array(
          z
            .object({
              name: text('Text of the tab.', expected).optional(),
              url: text('Path prefix (a folder name) of the pages that belong to the tab.', {
                ...expected,
                refersTo: 'pages-below',
              }).optional(),
            })
            .describe('A tab.'),
        )
        .describe('Tabs at the top, each with its own part of the navigation.')
        .optional(),
      api: api.prefault({}),
      openapi: z
        .union([
          text('Path or URL of an OpenAPI file.', { refersTo: 'file' }),
          z.array(text('Path or URL of an OpenAPI file.', { refersTo: 'file' })),
        ])
        .describe('The OpenAPI file, or several.')
        .optional(),
      footerSocials: footerSocials.optional(),
      feedback: z
        .object({
          suggestEdit: flag('Shows a button to suggest an edit.').default(false),
          raiseIssue: flag('Shows a button to report a problem.').default(false),
        })
        .describe('The feedback buttons.')
        .prefault({}),
      modeToggle: z
        .object({
          default: z.enum(['light', 'dark']).describe('The initial mode; if unset, the mode of the reader’s system.').optional(),
          isHidden: flag('Hides the switch between the modes; together with `default`, this forces one mode.').default(false),
        })
        .describe('The switch between light and dark mode.')
        .prefault({}),
      backgroundImage: text('Path of the background image.', { refersTo: 'file' }).optional(),
    })
    .describe('Configuration of a documentation site.'),
  {
    // Members of the newer format.
    aliases: { appearance: 'modeToggle', footer: 'footerSocials', navbar: 'topbarLinks' },
  },
);

/** The document with every default filled in. */
export type DocsConfig = z.output<typeof docsConfig>;
