import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import { Caller, type Names } from '../../components/caller-name.tsx'

/** Writer of a memory: the name of its key, or this machine, for the tools of assistants on it. */
export function Writer({ memory, names }: { memory: Pick<Memory, 'written_by'>; names: Names }) {
  const { written_by: id } = memory
  return id === null ? 'This machine' : <Caller id={id} names={names} />
}
