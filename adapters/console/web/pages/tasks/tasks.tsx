import type { PageProps } from '../../router.ts'
import { TaskBoard } from './task-board.tsx'
import { TaskStory } from './task-story.tsx'

/** All tasks, or the one of the address. */
export default function TasksPage({ id, query }: PageProps) {
  return id === null ? <TaskBoard query={query} /> : <TaskStory key={id} id={id} />
}
