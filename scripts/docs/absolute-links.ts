/**
 * Makes the links of a page that is at the top of the project absolute, and those of its pictures: the package has the page,
 * and not what it links to.
 *
 * @param page Markdown with relative links
 * @param repository its address, such as `https://github.com/gazeway/gazeway`
 * @example absoluteLinks('[tools](docs/tools.md)', 'https://example.com/a') // '[tools](https://example.com/a/blob/main/docs/tools.md)'
 */
export function absoluteLinks(page: string, repository: string): string {
  return page
    .replace(LINK, (_, picture: string, text: string, target: string) => {
      const kind = picture === '!' ? 'raw' : 'blob'
      return `${picture}[${text}](${repository}/${kind}/main/${target})`
    })
    .replace(PICTURE, `$1="${repository}/raw/main/$2"`)
}

/** Undoes {@link absoluteLinks}. */
export function relativeLinks(page: string, repository: string): string {
  return ['](', '="'].reduce(
    (text, before) => text.replaceAll(`${before}${repository}/raw/main/`, before),
    page.replaceAll(`](${repository}/blob/main/`, ']('),
  )
}

/** A link to a file: it has no scheme, and is no heading of the page itself. */
const LINK = /(!?)\[([^\]]*)\]\((?![a-z][a-z+.-]*:|#)([^)\s]+)\)/g
/** A picture of HTML: `<source srcset>` has one for dark pages. */
const PICTURE = /\b(src|srcset)="(?![a-z][a-z+.-]*:)([^"]+)"/g
