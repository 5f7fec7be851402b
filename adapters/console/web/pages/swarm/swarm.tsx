import type { PageProps } from '../../router.ts'
import { SwarmBoard } from './swarm-board.tsx'
import { SwarmView } from './swarm-view.tsx'

/** All swarms, or the one of the address. */
export default function SwarmPage({ id }: PageProps) {
  return id === null ? <SwarmBoard /> : <SwarmView key={id} id={id} />
}
