import { build, resolveConfig } from 'vitepress'
import { brokenLinks } from './broken-links.ts'

/**
 * Builds the site of the documentation from docs/.
 *
 * @param out the folder of the site
 * @returns faults of its links: each names a page and what does not exist
 */
export async function buildSite(out: string): Promise<string[]> {
  const { site } = await resolveConfig('docs', 'build', 'production')
  await build('docs', { outDir: out })
  return brokenLinks(out, site.base)
}
