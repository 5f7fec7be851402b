/** An entry of the navigation beside a page. */
export interface SidebarItem {
  text: string
  link: string
}

/** Entries below a heading. */
export interface SidebarGroup {
  text: string
  items: SidebarItem[]
}

/**
 * Reads the navigation of the site from docs/README.md: the table of guides is a group, and so is each row of the table of
 * the reference.
 *
 * @throws Error when a table has no page
 */
export function sidebarOf(index: string): SidebarGroup[] {
  const [, guides = '', reference = ''] = index.split(/^## .+$/m)
  const groups = [
    {
      text: 'Guides',
      items: linksIn(guides.slice(guides.indexOf('\n|'))).filter(({ link }) => link.startsWith('/guides/')),
    },
    ...reference.split('\n').flatMap((row) => {
      const [, about = '', pages = ''] = row.split('|')
      const items = linksIn(pages)
      return items.length === 0 ? [] : [{ text: capital(about.trim()), items: items.map(capitalItem) }]
    }),
  ]
  if (groups.length < 2 || groups.some(({ items }) => items.length === 0))
    throw new Error('docs/README.md has no tables of guides and of the reference, which the navigation is read from.')
  return groups
}

function linksIn(text: string): SidebarItem[] {
  return [...text.matchAll(/\[([^\]]+)\]\(([\w/-]+)\.md\)/g)].map(([, words = '', page = '']) => ({
    text: words,
    link: `/${page}`,
  }))
}

function capitalItem({ text, link }: SidebarItem): SidebarItem {
  return { text: capital(text), link }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
