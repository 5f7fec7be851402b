import type { PageProps } from '../../router.ts'
import { TaskBoard } from './task-board.tsx'
import { TaskStory } from './task-story.tsx'

/** All tasks, or the story of the one that the address names. */
export default function TasksPage({ id, query }: PageProps) {
  return id === null ? <TaskBoard query={query} /> : <TaskStory key={id} id={id} />
}
