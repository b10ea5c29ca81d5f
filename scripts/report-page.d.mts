/** The page as the source of a module; null for any other path. */
export function reportPageModule(path: string): Promise<string | null>;
