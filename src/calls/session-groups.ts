/** Dimensions by which calls are grouped with what their sessions worked on. The command line reads them without more. */
export const SESSION_GROUPS = ['session', 'repository', 'branch', 'commit', 'client', 'tag'] as const
