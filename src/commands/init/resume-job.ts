/** A workflow in which a second job continues, from its journal, a run that was cut off by its job's time limit. */

/**
 * The workflow of a template with a job `resume` after its job `run`; one that has it already stays as it is. What may be carried
 * on, and who can have written a journal: docs/long-runs.md.
 */
export function withResumeJob(workflow: string): string {
  const jobs = workflow.split(/^(?= {2}[\w-]+:$)/m);
  if (jobs.some((job) => job.startsWith('  resume:\n'))) return workflow;
  return jobs
    .map((job) => {
      if (job.startsWith('  publish:\n')) return afterResume(job);
      if (!job.startsWith('  run:\n')) return job;
      const [own = '', next = ''] = job.split(/(?=\n {2}# )/);
      return `${longer(own)}${resumeOf(own)}${next}`;
    })
    .join('');
}

/** The job of the run, which keeps its journal where it is cut off. */
function longer(job: string): string {
  const { head, steps } = partsOf(job);
  const outputs = isMatrix(head) ? head : withCutOff(head);
  return `${outputs.replace(/^ {4}timeout-minutes: \d+$/m, '    timeout-minutes: 60')}${steps.map(limited).join('')}`;
}

const CUT_OFF = `      cut-off: \${{ steps.journal.outputs.artifact-id }}\n`;

function withCutOff(head: string): string {
  return head.includes('    outputs:\n')
    ? head.replace('    outputs:\n', `    outputs:\n${CUT_OFF}`)
    : head.replace('    steps:\n', `    outputs:\n${CUT_OFF}    steps:\n`);
}

/** The step of the run ends before its job does, so that its journal can be kept. */
function limited(step: string, _at: number, steps: readonly string[]): string {
  if (isRun(step)) return inTime(step);
  return isKeep(step) ? `${step}${journalSteps(suffixIn(steps))}` : step;
}

function inTime(step: string): string {
  const id = '        id: patchsmith\n';
  const shorter =
    '        # Shorter than the job: the steps after it need time.\n        timeout-minutes: 50\n';
  return step.replace(id, `${id}${shorter}`).replace(/^ {10}deadline: .*$/m, BOTH_JOBS);
}

/** Limits of the run hold over both jobs: twice the time of a step, without what the second one needs to get ready. */
const MINUTES = 95;
const BOTH_JOBS = `          max-iterations: "200"\n          deadline: ${MINUTES}m`;

function resumeOf(job: string): string {
  const { head, steps } = partsOf(job);
  const ofMatrix = isMatrix(head);
  const needs = [...needsOf(head), 'run'].join(', ');
  const rest = head
    .replace(/^ {2}run:\n/, '')
    .replace(/^ {4}(?:needs|if): .*\n/gm, '')
    .replace(/^ {4}timeout-minutes: \d+$/m, '    timeout-minutes: 60');
  const due = ofMatrix ? "needs.run.result == 'failure'" : "needs.run.outputs.cut-off != ''";
  const suffix = suffixIn(steps);
  const fetched = ofMatrix ? `        if: \${{ steps.fetch.outcome == 'success' }}\n` : '';
  const carried = steps.map((step) => {
    if (isRun(step)) return resuming(step, fetched);
    if (isKeep(step)) return `${step}${journalSteps(suffix)}`;
    return step.includes('- name: Check out\n') ? afterName(step, fetched) : step;
  });
  return `
  # If the previous job was cut off by its time limit: the rest of the run, by the same rules. If it is cut off too, "Re-run this
  # job" continues from there.
  resume:
    needs: [${needs}]
    # Not if the workflow was cancelled.
    if: \${{ !cancelled() && ${due} }}
${rest}${fetchSteps(suffix, ofMatrix, fetched)}${carried.join('')}`;
}

/** What a run takes from its journal, and not from the step that continues it. */
const OF_THE_JOURNAL = /^(?:plan-file|plan-from-issue|plan-from-comment|continue|rules-from|verify-in):/;

function resuming(step: string, fetched: string): string {
  const lines = inTime(step).split('\n');
  const from = lines.indexOf('        with:') + 1;
  const kept: string[] = [];
  for (const line of lines.slice(from)) {
    if (!OF_THE_JOURNAL.test(line.trim())) kept.push(line);
    else if (kept.at(-1)?.trim().startsWith('# ')) kept.pop();
  }
  const given = [
    '          mode: resume',
    `          run-dir: \${{ runner.temp }}/patchsmith-journal`,
    PERMITTED,
  ];
  const named = lines.slice(0, from).map((line) => line.replace(/- name: .*/, '- name: Continue the run'));
  return afterName([...named, ...given, ...kept].join('\n'), fetched);
}

const PERMITTED = '          # Permissions are granted again here; the journal grants none.';

/** The publication waits for this job, and takes its result. */
function afterResume(job: string): string {
  const needs = [...needsOf(job), 'resume'].join(', ');
  return job
    .replace(/^ {4}needs: .*$/m, `    needs: [${needs}]`)
    .replace('needs.run.outputs.report }}', 'needs.resume.outputs.report || needs.run.outputs.report }}');
}

/** What comes before its steps, and each of them. */
function partsOf(job: string): { head: string; steps: string[] } {
  const [before = '', after = ''] = job.split('    steps:\n');
  return { head: `${before}    steps:\n`, steps: after.split(/^(?= {6}- )/m) };
}

function needsOf(job: string): string[] {
  const [, list = ''] = /^ {4}needs: \[?([\w, -]+)\]?$/m.exec(job) ?? [];
  return list.split(', ').filter((name) => name !== '');
}

const isMatrix = (head: string) => head.includes('    strategy:\n');
const isRun = (step: string) => step.includes('        id: patchsmith\n');
const isKeep = (step: string) => step.includes('        id: keep\n');

/** What tells the artifacts of a matrix apart. */
function suffixIn(steps: readonly string[]): string {
  return /^ {10}name: patchsmith-run(.*)$/m.exec(steps.find(isKeep) ?? '')?.[1] ?? '';
}

function afterName(step: string, lines: string): string {
  return step.replace(/^( {6}- name: .*\n)/m, `$1${lines}`);
}

const UPLOAD = 'actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0';
const DOWNLOAD = 'actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1';

function journalSteps(suffix: string): string {
  return `\
      - name: Pack the journal
        if: \${{ always() && steps.patchsmith.outputs.resumable == 'true' }}
        env:
          RUN_DIR: \${{ steps.patchsmith.outputs.run-dir }}
        # A single file, since an artifact keeps neither modes nor empty folders.
        run: tar -c -f "$RUNNER_TEMP/patchsmith-journal.tar" -C "$RUN_DIR" events.jsonl result.json shadow.git
      - name: Keep the journal
        id: journal
        if: \${{ always() && steps.patchsmith.outputs.resumable == 'true' }}
        uses: ${UPLOAD}
        with:
          name: patchsmith-journal${suffix}
          path: \${{ runner.temp }}/patchsmith-journal.tar
          if-no-files-found: error
          overwrite: true
          # It contains the conversation and contents of files; anyone who can read the repository can read it.
          retention-days: 1
`;
}

function fetchSteps(suffix: string, ofMatrix: boolean, fetched: string): string {
  const mayLack = ofMatrix
    ? '        # There is no artifact if this one was not cut off.\n        id: fetch\n        continue-on-error: true\n'
    : '';
  return `\
      # An artifact of this workflow run, which only its own jobs can have made. Never use the artifacts of another run
      # here: for a pull request, also from a fork, its author controls them.
      - name: Fetch the journal
${mayLack}        uses: ${DOWNLOAD}
        with:
          name: patchsmith-journal${suffix}
          path: \${{ runner.temp }}/patchsmith-fetched
      - name: Unpack the journal
${fetched}        run: |
          mkdir -m 700 "$RUNNER_TEMP/patchsmith-journal"
          tar -x --no-same-owner -f "$RUNNER_TEMP/patchsmith-fetched/patchsmith-journal.tar" -C "$RUNNER_TEMP/patchsmith-journal"
`;
}
