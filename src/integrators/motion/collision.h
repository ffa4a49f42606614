/*
** collision.h
** Impacts of many contacts at once, by the law of Liu, Zhao and Brogliato: the energy that contacts store tells how impulses are
** shared. Private to motion/.
*/
#pragma once

#include "model/impact.h"

/*
** z (n) = the impulses of n contacts with velocities u (n; below 0: approaching) before the impact, and u + W z after it. With the virtual
** indentation s of a contact, in a time of the impact that is 0 for the motion,
**
**   z' = stiffness s^exponent,   s' = -u_now while it is compressed, -u_now / e^2 while it expands,   until all s = 0 and u_now >= 0.
**
** So the energy that a contact gives back is e^2 of what it has taken in. For e = 0 the limit of e -> 0 is taken: an expansion needs no time, and
** ends where the contact is open, or where the others begin to compress it again. The equations are integrated to about 1e-11 of the impulses; one
** contact alone is Newton's law, exactly.
** Liu, Zhao and Brogliato, Frictionless multiple impacts in multibody systems, Proc. R. Soc. A 464 (2008), 3193, and 465 (2009), 1.
**
** NS_ENOMEM; NS_EMAXITER: too many steps, where the times of contacts differ too much: of stiff ones beside soft ones, of a light body between heavy
** ones; NS_EINTR; NS_ENOCONV: a W that does not push contacts apart.
*/
NsStatus ns_collision_share(int n, const double *W, const double *u, const NsImpactContact *contacts, double *z);
