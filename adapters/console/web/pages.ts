import type { ComponentType } from 'preact'
import type { PageProps } from './router.ts'

/** A page's part of the program, fetched when the page is first opened. */
interface PageModule {
  default: ComponentType<PageProps>
}

/** A page, and how the navigation calls it. */
export interface PageEntry {
  name: string
  label: string
  load: () => Promise<PageModule>
}

const modules = import.meta.glob<PageModule>(
  './pages/{overview,connections,wallet,usage,tasks,swarm,escrow,attention,capture,memory,calls,skills,settings}.tsx',
)

const named = (name: string, label: string): PageEntry[] => {
  const load = modules[`./pages/${name}.tsx`]
  return load ? [{ name, label, load }] : []
}

/** All pages, as the navigation groups them. */
export const PAGE_GROUPS: readonly { label: string; pages: readonly PageEntry[] }[] = [
  { label: 'Now', pages: [...named('overview', 'Overview'), ...named('connections', 'Connections')] },
  { label: 'Money', pages: [...named('wallet', 'Wallet'), ...named('usage', 'Usage'), ...named('escrow', 'Escrow')] },
  { label: 'Work', pages: [...named('tasks', 'Tasks'), ...named('swarm', 'Swarm'), ...named('calls', 'Calls')] },
  {
    label: 'Mind',
    pages: [
      ...named('attention', 'Attention'),
      ...named('capture', 'Capture'),
      ...named('memory', 'Memory'),
      ...named('skills', 'Skills'),
    ],
  },
  { label: 'Gazeway', pages: named('settings', 'Settings') },
]

/** A page by its name in the address. */
export function pageNamed(name: string): PageEntry | undefined {
  return PAGE_GROUPS.flatMap(({ pages }) => pages).find((page) => page.name === name)
}
