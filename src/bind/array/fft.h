/*
** fft.h
** ns.fft, ifft, rfft, irfft, fftfreq, rfftfreq.
*/
#ifndef NSL_ARRAY_FFT_H
#define NSL_ARRAY_FFT_H

#include <lua.h>

/* Adds the transforms to the module on top of the stack. */
void nsl_open_fft(lua_State *L);

#endif
