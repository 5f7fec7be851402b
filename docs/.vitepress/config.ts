import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'
import { anchorOf } from '../../scripts/docs/links.ts'
import { repositoryLinks } from '../../scripts/site/repository-links.ts'
import { sidebarOf } from '../../scripts/site/sidebar.ts'

const { description, repository, version } = JSON.parse(readFileSync('package.json', 'utf8'))
const address: string = repository.url.replace(/^git\+|\.git$/g, '')

/** The site of the documentation: `npm run docs:site` builds it. */
export default defineConfig({
  title: 'Gazeway',
  description,
  lang: 'en',
  base: '/gazeway/',
  cacheDir: '../.bench/vitepress',
  rewrites: { 'README.md': 'index.md' },
  ignoreDeadLinks: 'localhostLinks',
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languages: [{ name: 'formula', scopeName: 'text.formula', patterns: [], repository: {} }],
    config: (markdown) => repositoryLinks(markdown, address),
  },
  themeConfig: {
    nav: [{ text: `Version ${version}`, link: `${address}/blob/main/CHANGELOG.md` }],
    sidebar: sidebarOf(readFileSync('docs/README.md', 'utf8')),
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: address }],
  },
})
