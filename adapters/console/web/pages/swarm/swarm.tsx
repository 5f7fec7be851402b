import type { PageProps } from '../../router.ts'
import { SwarmBoard } from './swarm-board.tsx'
import { SwarmView } from './swarm-view.tsx'

/** Goals that are divided into tasks: all that are known, or the one that the address names. */
export default function SwarmPage({ id }: PageProps) {
  return id === null ? <SwarmBoard /> : <SwarmView key={id} id={id} />
}
