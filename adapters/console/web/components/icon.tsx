/** Shapes of the icons: one set, drawn as lines of 1.5 px in 16 by 16. */
const SHAPES = {
  overview: 'M2 13V8M6 13V3M10 13v-7M14 13v-4',
  connections: 'M2 3h12v10H2zM5 6l2 2-2 2M8.5 10H11',
  calls: 'M2 5h10M9 2l3 3-3 3M14 11H4M7 8l-3 3 3 3',
  upstreams: 'M8 2v5M8 7 3 13M8 7l5 6M3 13h.01M13 13h.01M8 2h.01',
  wallet: 'M2 4h12v9H2zM2 7h12M10.5 10h1',
  burn: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M8 5v3l2 2',
  usage: 'M3 2h10v12l-2-1-1.5 1L8 13l-1.5 1L5 13l-2 1zM6 6h4M6 9h4',
  escrow: 'M3 7h10v7H3zM5 7V5a3 3 0 0 1 6 0v2',
  tasks: 'M2 2h12v12H2zM5 8l2 2 4-4',
  swarm: 'M8 2h.01M3 8h.01M13 8h.01M8 14h.01M8 2 3 8l5 6 5-6z',
  attention: 'M1 8c3-5 11-5 14 0-3 5-11 5-14 0zM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4',
  capture: 'M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4',
  memory: 'M2 4c0-2.6 12-2.6 12 0s-12 2.6-12 0zM2 4v8c0 2.6 12 2.6 12 0V4M2 8c0 2.6 12 2.6 12 0',
  skills: 'M2 2h5v5H2zM9 9h5v5H9zM11.5 2v5M9 4.5h5M2 11.5h5',
  settings: 'M2 5h7M13 5h1M2 11h1M7 11h7M11 3v4M5 9v4',
  doctor: 'M1 8h3l2-5 3 10 2-5h4',
  keys: 'M5.5 14a3 3 0 1 1 0-6 3 3 0 0 1 0 6M7.7 8.8 13.5 3M11 5.5l2 2',
  reviews: 'M4 2v12M12 2v12M2 5h4M10 11h4M4 11h.01',
  search: 'M7 2a5 5 0 1 1 0 10A5 5 0 0 1 7 2M11 11l3 3',
  alert: 'M8 2 1.5 13.5h13zM8 6.5v3M8 11.5h.01',
  leave: 'M6 2H2v12h4M6 8h8M11 5l3 3-3 3',
  action: 'M3 8h10M9 4l4 4-4 4',
} as const

/** Name of an icon. Pages have the icon of their own name. */
export type IconName = keyof typeof SHAPES

/** Icon beside a word that says the same. */
export function Icon({ name }: { name: string }) {
  const shape = SHAPES[name as IconName] ?? SHAPES.action
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shape} />
    </svg>
  )
}
