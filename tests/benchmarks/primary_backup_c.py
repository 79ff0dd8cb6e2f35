"""The primary-backup log with its standard bounds, written out in C as a code generator would: a
state in one word, breadth-first search with open addressing and places asked for in advance."""

SOURCE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef uint64_t u64;
enum { L = 2, E = 2, C = 2, DOWN = 0, FOLLOWER = 1, LEADER = 2 };
enum { NOTHING = 0, FETCH = 1, FETCHED = 2 };
typedef struct { int role, ep, log[L], hw, mt, kind, a, b; } Node;
typedef struct { Node n[3]; int isr, cep, lead, crashed; } State;

static int len(const Node *n) { return (n->log[0] != 0) + (n->log[1] != 0); }
static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

static u64 pack(const State *s) {
  u64 w = 0;
  for (int i = 0; i < 3; i++) {
    const Node *n = &s->n[i];
    w = w << 18 | n->role << 16 | n->ep << 14 | n->log[0] << 12 | n->log[1] << 10 | n->hw << 8
      | n->mt << 6 | n->kind << 4 | n->a << 2 | n->b;
  }
  return w << 9 | s->isr << 6 | s->cep << 4 | s->lead << 2 | s->crashed;
}
static void unpack(u64 w, State *s) {
  s->crashed = w & 3; s->lead = w >> 2 & 3; s->cep = w >> 4 & 3; s->isr = w >> 6 & 7;
  w >>= 9;
  for (int i = 2; i >= 0; i--, w >>= 18) {
    Node *n = &s->n[i];
    n->b = w & 3; n->a = w >> 2 & 3; n->kind = w >> 4 & 3; n->mt = w >> 6 & 3;
    n->hw = w >> 8 & 3; n->log[1] = w >> 10 & 3; n->log[0] = w >> 12 & 3; n->ep = w >> 14 & 3;
    n->role = w >> 16 & 3;
  }
}
static u64 out[64];
static int made;
static void emit(const State *s) { out[made++] = pack(s); }
static int serves(const Node *l, const Node *n) {
  return n->kind == FETCH && n->b == l->ep && n->a <= len(l);
}
static void quiet(Node *n) { n->kind = NOTHING; n->a = n->b = 0; }
static void cut(Node *n) { for (int i = n->hw; i < L; i++) n->log[i] = 0; }

static void alone(const State *s, int i) {
  const Node *n = &s->n[i];
  if (n->role == LEADER && len(n) < L) { State t = *s; t.n[i].log[len(n)] = n->ep; emit(&t); }
  if (n->role == FOLLOWER && n->kind == NOTHING) {
    State t = *s; t.n[i].kind = FETCH; t.n[i].a = len(n); t.n[i].b = n->ep; emit(&t);
  }
  if (n->role == FOLLOWER && n->kind == FETCHED) {
    State t = *s; Node *m = &t.n[i];
    if (n->a != 0 && len(n) < L) m->log[len(n)] = n->a;
    m->hw = most(n->hw, least(n->b, len(m)));
    quiet(m); emit(&t);
  }
  if (n->kind != NOTHING) { State t = *s; quiet(&t.n[i]); emit(&t); }
  if (n->role != DOWN && s->crashed < C) {
    State t = *s; t.n[i].role = DOWN; t.crashed++; quiet(&t.n[i]); emit(&t);
    if (len(n) > n->hw) { cut(&t.n[i]); emit(&t); }
  }
  if (n->role == DOWN) { State t = *s; t.n[i].role = FOLLOWER; emit(&t); }
  int free = s->lead == 3 || (s->lead != i && s->n[s->lead].role == DOWN);
  if (s->cep < E && (s->isr >> i & 1) && n->role != DOWN && free) {
    State t = *s; t.cep++; t.lead = i;
    if (s->lead != 3) t.isr &= ~(1 << s->lead);
    emit(&t);
  }
  if (n->role != DOWN && n->ep < s->cep) {
    State t = *s; Node *m = &t.n[i];
    m->ep = s->cep; quiet(m);
    if (s->lead == i) {
      m->role = LEADER;
      for (int k = 0; k < 3; k++) t.n[k].mt = 0;
    } else { m->role = FOLLOWER; cut(m); }
    emit(&t);
  }
}
static void pair(const State *s, int l, int i) {
  const Node *a = &s->n[l], *b = &s->n[i];
  if (a->role != LEADER) return;
  if (serves(a, b)) {
    State t = *s; int low = len(a);
    t.n[i].mt = b->a;
    for (int k = 0; k < 3; k++) if (k != l && (s->isr >> k & 1)) low = least(low, t.n[k].mt);
    t.n[l].hw = most(a->hw, low);
    t.n[i].kind = FETCHED; t.n[i].a = b->a < L ? a->log[b->a] : 0; t.n[i].b = t.n[l].hw;
    emit(&t);
  } else if (b->kind == FETCH) { State t = *s; quiet(&t.n[i]); emit(&t); }
  if (a->ep != s->cep) return;
  if ((s->isr >> i & 1) && b->mt < len(a)) { State t = *s; t.isr &= ~(1 << i); emit(&t); }
  if (!(s->isr >> i & 1) && b->role == FOLLOWER && b->mt >= a->hw) {
    State t = *s; t.isr |= 1 << i; emit(&t);
  }
}
static u64 place(u64 w, u64 mask) {
  w *= 0x9E3779B97F4A7C15ull; w ^= w >> 32; w *= 0xBF58476D1CE4E5B9ull;
  return (w ^ w >> 29) & mask;
}
int main(void) {
  u64 size = 1ull << 22, mask = size - 1, generated = 0;
  u64 *table = calloc(size, 8), *queue = malloc(3000000 * 8);
  State s; memset(&s, 0, sizeof s);
  for (int i = 0; i < 3; i++) s.n[i].role = FOLLOWER;
  s.isr = 7; s.lead = 3;
  u64 first = pack(&s), head = 0, tail = 0;
  table[place(first, mask)] = first; queue[tail++] = first;
  while (head < tail) {
    u64 end = tail;
    for (; head < end; head++) {
      unpack(queue[head], &s);
      made = 0;
      for (int i = 0; i < 3; i++) alone(&s, i);
      for (int l = 0; l < 3; l++) for (int i = 0; i < 3; i++) if (l != i) pair(&s, l, i);
      for (int k = 0; k < made; k++) __builtin_prefetch(&table[place(out[k], mask)]);
      generated += made;
      for (int k = 0; k < made; k++) {
        u64 at = place(out[k], mask);
        while (table[at] && table[at] != out[k]) at = (at + 1) & mask;
        if (!table[at]) { table[at] = out[k]; queue[tail++] = out[k]; }
      }
    }
  }
  printf("%llu %llu\n", (unsigned long long)tail, (unsigned long long)generated);
  return 0;
}
"""
