import { dirname, join, normalize } from 'node:path/posix'
import type { MarkdownRenderer } from 'vitepress'

/**
 * Has links of a page that leave docs/ lead to the repository, and those to docs/README.md to the first page of the site.
 *
 * @param repository its address, such as `https://github.com/gazeway/gazeway`
 */
export function repositoryLinks(markdown: MarkdownRenderer, repository: string): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const { children } of tokens)
      for (const token of children ?? []) {
        const target = token.type === 'link_open' ? token.attrGet('href') : null
        if (target !== null) token.attrSet('href', siteTarget(target, env.relativePath as string, repository))
      }
  })
}

/**
 * The target of a link on the site.
 *
 * @param page the file that has it, from docs/
 * @example siteTarget('../../Dockerfile', 'guides/operate.md', 'https://example.com/r') // 'https://example.com/r/blob/main/Dockerfile'
 */
export function siteTarget(target: string, page: string, repository: string): string {
  if (/^(?:[a-z][a-z+.-]*:|#)/i.test(target)) return target
  const [path = '', ...anchor] = target.split(/(?=#)/)
  const file = normalize(join('docs', dirname(page === 'index.md' ? 'README.md' : page), path))
  if (!file.startsWith('docs/')) return `${repository}/blob/main/${[file, ...anchor].join('')}`
  if (file === 'docs/README.md') return [path.replace(/README\.md$/, 'index.md'), ...anchor].join('')
  return /\.md$/.test(file) ? target : `${repository}/blob/main/${[file, ...anchor].join('')}`
}
