/**
 * Makes the links of a page that is at the top of the project absolute, and those of its pictures: the package has the page,
 * and not what it links to.
 *
 * @param page Markdown with relative links
 * @param repository its address, such as `https://github.com/gazeway/gazeway`
 * @example absoluteLinks('[tools](docs/tools.md)', 'https://example.com/a') // '[tools](https://example.com/a/blob/main/docs/tools.md)'
 */
export function absoluteLinks(page: string, repository: string): string {
  return page.replace(LINK, (_, picture: string, text: string, target: string) => {
    const kind = picture === '!' ? 'raw' : 'blob'
    return `${picture}[${text}](${repository}/${kind}/main/${target})`
  })
}

/** Undoes {@link absoluteLinks}. */
export function relativeLinks(page: string, repository: string): string {
  return ['blob', 'raw'].reduce((text, kind) => text.replaceAll(`](${repository}/${kind}/main/`, ']('), page)
}

/** A link to a file: it has no scheme, and is no heading of the page itself. */
const LINK = /(!?)\[([^\]]*)\]\((?![a-z][a-z+.-]*:|#)([^)\s]+)\)/g
