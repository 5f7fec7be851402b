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
  /** True for a page that a key with the scope inference may see, too: it shows that key's own records. */
  own?: true
}

/** All pages, in the groups of the navigation. */
const PAGE_GROUPS: readonly { label: string; pages: readonly PageEntry[] }[] = [
  {
    label: 'Now',
    pages: [
      { name: 'overview', label: 'Overview', load: () => import('./pages/overview/overview.tsx') },
      { name: 'sessions', label: 'Sessions', own: true, load: () => import('./pages/sessions/sessions.tsx') },
      { name: 'calls', label: 'Calls', own: true, load: () => import('./pages/calls/calls.tsx') },
      { name: 'connections', label: 'Connections', load: () => import('./pages/connections/connections.tsx') },
    ],
  },
  {
    label: 'Money',
    pages: [
      { name: 'wallet', label: 'Wallet', load: () => import('./pages/wallet/wallet.tsx') },
      { name: 'burn', label: 'Time left', load: () => import('./pages/burn/burn.tsx') },
      { name: 'usage', label: 'Usage', own: true, load: () => import('./pages/usage/usage.tsx') },
      { name: 'escrow', label: 'Escrow', load: () => import('./pages/escrow/escrow.tsx') },
    ],
  },
  {
    label: 'Work',
    pages: [
      { name: 'tasks', label: 'Tasks', load: () => import('./pages/tasks/tasks.tsx') },
      { name: 'reviews', label: 'Reviews', load: () => import('./pages/reviews/reviews.tsx') },
      { name: 'swarm', label: 'Swarm', load: () => import('./pages/swarm/swarm.tsx') },
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
      { name: 'keys', label: 'Keys', own: true, load: () => import('./pages/keys/keys.tsx') },
      { name: 'upstreams', label: 'Upstreams', load: () => import('./pages/upstreams/upstreams.tsx') },
      { name: 'settings', label: 'Settings', load: () => import('./pages/settings/settings.tsx') },
      { name: 'doctor', label: 'Doctor', load: () => import('./pages/doctor/doctor.tsx') },
    ],
  },
]

/** Groups of the navigation with the pages that the signed-in key may see. */
export const shownGroups = (isInference = false) =>
  PAGE_GROUPS.map(({ label, pages }) => ({ label, pages: pages.filter(({ own }) => own || !isInference) })).filter(
    ({ pages }) => pages.length > 0,
  )

/** Finds a page by its name in the address. */
export function pageNamed(name: string): PageEntry | undefined {
  return PAGE_GROUPS.flatMap(({ pages }) => pages).find((page) => page.name === name)
}
