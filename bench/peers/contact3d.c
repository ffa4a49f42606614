/*
** contact3d.c
** A scene of bodies in space by MuJoCo: contact3d SCENE SOLVER ROOM, with a scene of bench_contact3d.lua, the solver Newton, CG or PGS and room for contacts.
** Prints seconds of a step (mean, slowest), the number of contacts, all places and velocities at the end.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mujoco/mujoco.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
** Writes the scene as MJCF. A restitution of 1 is a contact without damping, by solref as the manual tells; else MuJoCo's default. Margin and
** solimp are the defaults.
*/
static int contact3d_translate(FILE *in, FILE *out, const char *solver, int room, double *steps, double *force) {
  char word[32], shape[32];
  double h, mu, e, n[3], s[3], x[3], mass, inertia, f;
  if (fscanf(in, "step %lf steps %lf mu %lf e %lf", &h, steps, &mu, &e) != 4) return 1;
  fprintf(out, "<mujoco><option timestep='%.17g' gravity='0 0 -9.81' cone='elliptic' solver='%s'/>", h, solver);
  fprintf(out, "<size nconmax='%d' njmax='%d' nstack='%d'/><default><geom friction='%.17g 0 0' condim='3' ", room, 3 * room, 40000 * room, mu);
  fprintf(out, e > 0 ? "solref='-30000 0'/></default><worldbody>" : "/></default><worldbody>");
  for (int k = 0; fscanf(in, "%31s", word) == 1;) {
    if (!strcmp(word, "plane")) {
      if (fscanf(in, "%lf %lf %lf %lf %lf %lf", x, x + 1, x + 2, n, n + 1, n + 2) != 6) return 1;
      fprintf(out, "<geom type='plane' size='0 0 1' pos='%g %g %g' zaxis='%g %g %g'/>", x[0], x[1], x[2], n[0], n[1], n[2]);
      continue;
    }
    if (fscanf(in, "%31s %lf %lf %lf %lf %lf %lf %lf %lf %lf", shape, s, s + 1, s + 2, x, x + 1, x + 2, &mass, &inertia, &f) != 10)
      return 1;
    fprintf(out, "<body pos='%.17g %.17g %.17g'><freejoint/><inertial pos='0 0 0' mass='%.17g' ", x[0], x[1], x[2], mass);
    fprintf(out, "diaginertia='%.17g %.17g %.17g'/>", inertia, inertia, inertia);
    fprintf(out, "<geom type='%s' size='%.17g %.17g %.17g'/></body>", shape, s[0], s[1], s[2]);
    force[k++] = f;
  }
  fprintf(out, "</worldbody></mujoco>");
  return ferror(out);
}

/* In place of MuJoCo's own, which wait for a key and write a file. */
static void contact3d_fail(const char *message) {
  fprintf(stderr, "%s\n", message);
  exit(1);
}

static void contact3d_warn(const char *message) {
  fprintf(stderr, "%s\n", message);
}

int main(int argc, char **argv) {
  enum { MOST = 20000 };
  static double force[MOST];
  char path[4096], error[1000];
  double steps, total = 0, slowest = 0;
  if (argc < 4) return 1;
  mju_user_error = contact3d_fail;
  mju_user_warning = contact3d_warn;
  snprintf(path, sizeof path, "%s.xml", argv[1]);
  FILE *in = fopen(argv[1], "r"), *out = fopen(path, "w");
  if (!in || !out || contact3d_translate(in, out, argv[2], atoi(argv[3]), &steps, force)) return 1;
  fclose(in);
  fclose(out);
  mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
  if (!m) return fprintf(stderr, "%s\n", error), 1;
  mjData *d = mj_makeData(m);
  for (int b = 1; b < m->nbody; b++) d->xfrc_applied[6 * b] = force[b - 1];
  for (int k = 0; k < (int)steps; k++) {
    double start = now();
    mj_step(m, d);
    double spent = now() - start;
    total += spent;
    slowest = fmax(slowest, spent);
  }
  printf("step %.9g\nslowest %.9g\ncontacts %d\n", total / steps, slowest, d->ncon);
  for (int b = 1; b < m->nbody; b++)
    for (int i = 0; i < 3; i++)
      printf("q%d_%d %.17g\nv%d_%d %.17g\n", b, i + 1, d->qpos[7 * (b - 1) + i], b, i + 1, d->qvel[6 * (b - 1) + i]);
  mj_deleteData(d);
  mj_deleteModel(m);
  return 0;
}
