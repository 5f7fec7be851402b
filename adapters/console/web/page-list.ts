import type { ComponentType } from 'preact'
import type { PageProps } from './router.ts'

/** Module of a page, loaded when the page is first opened. */
interface PageModule {
  default: ComponentType<PageProps>
}

/** Page, and its label in the navigation. */
export interface PageEntry {
  name: string
  label: string
  load: () => Promise<PageModule>
}

/** All pages, in the groups of the navigation. */
export const PAGE_GROUPS: readonly { label: string; pages: readonly PageEntry[] }[] = [
  {
    label: 'Now',
    pages: [
      { name: 'overview', label: 'Overview', load: () => import('./pages/overview/overview.tsx') },
      { name: 'connections', label: 'Connections', load: () => import('./pages/connections/connections.tsx') },
    ],
  },
  {
    label: 'Money',
    pages: [
      { name: 'wallet', label: 'Wallet', load: () => import('./pages/wallet/wallet.tsx') },
      { name: 'burn', label: 'Time left', load: () => import('./pages/burn/burn.tsx') },
      { name: 'usage', label: 'Usage', load: () => import('./pages/usage/usage.tsx') },
      { name: 'escrow', label: 'Escrow', load: () => import('./pages/escrow/escrow.tsx') },
    ],
  },
  {
    label: 'Work',
    pages: [
      { name: 'tasks', label: 'Tasks', load: () => import('./pages/tasks/tasks.tsx') },
      { name: 'reviews', label: 'Reviews', load: () => import('./pages/reviews/reviews.tsx') },
      { name: 'swarm', label: 'Swarm', load: () => import('./pages/swarm/swarm.tsx') },
      { name: 'calls', label: 'Calls', load: () => import('./pages/calls/calls.tsx') },
    ],
  },
  {
    label: 'Mind',
    pages: [
      { name: 'attention', label: 'Attention', load: () => import('./pages/attention/attention.tsx') },
      { name: 'capture', label: 'Capture', load: () => import('./pages/capture/capture.tsx') },
      { name: 'memory', label: 'Memory', load: () => import('./pages/memory/memory.tsx') },
      { name: 'skills', label: 'Skills', load: () => import('./pages/skills/skills.tsx') },
    ],
  },
  {
    label: 'Gazeway',
    pages: [
      { name: 'upstreams', label: 'Upstreams', load: () => import('./pages/upstreams/upstreams.tsx') },
      { name: 'settings', label: 'Settings', load: () => import('./pages/settings/settings.tsx') },
    ],
  },
]

/** Finds a page by its name in the address. */
export function pageNamed(name: string): PageEntry | undefined {
  return PAGE_GROUPS.flatMap(({ pages }) => pages).find((page) => page.name === name)
}
