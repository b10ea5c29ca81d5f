/** The list of users that commands see. */

/** The user that commands run as, and its home folder. */
export interface User {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/**
 * The machine's list, with the home folder of commands. Java, and thus Maven, looks here and not in HOME. A user missing
 * from the list is added, as in many containers and with users from a directory service.
 */
export function passwdFor({ uid, gid, home }: User, machine: string): string {
  const users = machine.split('\n').filter((line) => line !== '');
  const isOurs = (line: string) => line.split(':')[2] === String(uid);
  const lines = users.map((line) => {
    const [name, password, id, group, words, , ...shell] = line.split(':');
    return isOurs(line) ? [name, password, id, group, words, home, ...shell].join(':') : line;
  });
  if (!users.some(isOurs)) lines.push(`agent:x:${uid}:${gid}::${home}:/bin/sh`);
  return `${lines.join('\n')}\n`;
}
