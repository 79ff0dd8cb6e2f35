package org.apache.kafka.controller;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/**
 * Calls to what has another name, place or number of arguments in some release. Everything whose
 * descriptor is the same in all releases is linked directly instead. One thread.
 */
final class Reflect {
    private record Key(Class<?> type, String name, int arity) { }

    private static final Map<Key, Method> METHODS = new HashMap<>();
    private static final Map<Key, Integer> ARITIES = new HashMap<>();
    private static final Map<Key, Constructor<?>> CONSTRUCTORS = new HashMap<>();
    private static final Map<String, Class<?>> CLASSES = new HashMap<>();
    private static final Map<Class<?>, Class<?>> BOXES = Map.of(
        int.class, Integer.class, long.class, Long.class, short.class, Short.class,
        boolean.class, Boolean.class, byte.class, Byte.class);

    private Reflect() {
    }

    /** The first of the names that this release has, or null. */
    static Class<?> classOrNull(String... names) {
        for (String name : names) {
            if (!CLASSES.containsKey(name)) {
                CLASSES.put(name, load(name));
            }
            if (CLASSES.get(name) != null) {
                return CLASSES.get(name);
            }
        }
        return null;
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    static Class<?> type(String... names) {
        Class<?> found = classOrNull(names);
        if (found == null) {
            throw Refusal.error("the jars have no class " + String.join(" or ", names));
        }
        return found;
    }

    /** The number of parameters of the method with this name (of the longest, if several), or -1. */
    static int arity(Class<?> type, String name) {
        Key key = new Key(type, name, -1);
        Integer known = ARITIES.get(key);
        if (known == null) {
            known = -1;
            for (Class<?> at = type; at != null; at = at.getSuperclass()) {
                for (Method method : at.getDeclaredMethods()) {
                    if (method.getName().equals(name)) {
                        known = Math.max(known, method.getParameterCount());
                    }
                }
            }
            ARITIES.put(key, known);
        }
        return known;
    }

    static boolean has(Class<?> type, String name) {
        return arity(type, name) >= 0;
    }

    /** Calls a method; what it throws comes out as it was thrown. */
    static Object call(Object target, String name, Object... arguments) {
        return call(target, target.getClass(), name, arguments);
    }

    static Object callStatic(Class<?> type, String name, Object... arguments) {
        return call(null, type, name, arguments);
    }

    private static Object call(Object target, Class<?> type, String name, Object... arguments) {
        Key key = new Key(type, name, arguments.length);
        Method method = METHODS.get(key);
        if (method == null || !fits(method, arguments)) {
            method = find(type, name, arguments);
            METHODS.put(key, method);
        }
        return invoke(method, target, arguments);
    }

    static Object invoke(Method method, Object target, Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw unchecked(thrown.getCause());
        } catch (IllegalAccessException closed) {
            throw Refusal.error("the jars do not open " + method);
        }
    }

    /** Sets something of a builder where the release has it. */
    static void optional(Object builder, String setter, Object value) {
        if (has(builder.getClass(), setter)) {
            call(builder, setter, value);
        }
    }

    static Object make(Class<?> type, Object... arguments) {
        Key key = new Key(type, "<init>", arguments.length);
        Constructor<?> constructor = CONSTRUCTORS.get(key);
        if (constructor == null || !fits(constructor, arguments)) {
            constructor = null;
            for (Constructor<?> candidate : type.getDeclaredConstructors()) {
                if (fits(candidate, arguments)) {
                    constructor = candidate;
                }
            }
            if (constructor == null) {
                throw Refusal.error("the jars have no fitting constructor of " + type.getName());
            }
            CONSTRUCTORS.put(key, open(constructor));
        }
        try {
            return constructor.newInstance(arguments);
        } catch (InvocationTargetException thrown) {
            throw unchecked(thrown.getCause());
        } catch (ReflectiveOperationException closed) {
            throw Refusal.error("the jars do not open " + constructor);
        }
    }

    /** The value of a field, whatever its access. */
    static Object field(Object target, String name) {
        try {
            Field field = open(target.getClass().getDeclaredField(name));
            return field.get(target);
        } catch (ReflectiveOperationException absent) {
            throw Refusal.error("the jars have no field " + name + " in " + target.getClass().getName());
        }
    }

    static boolean hasField(Class<?> type, String name) {
        for (Field field : type.getDeclaredFields()) {
            if (field.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static Method find(Class<?> type, String name, Object... arguments) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Method candidate : at.getDeclaredMethods()) {
                if (candidate.getName().equals(name) && fits(candidate, arguments)) {
                    return open(candidate);
                }
            }
        }
        throw Refusal.error("the jars have no fitting method " + type.getName() + "." + name);
    }

    private static boolean fits(Executable member, Object... arguments) {
        Class<?>[] parameters = member.getParameterTypes();
        if (parameters.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < parameters.length; i++) {
            Class<?> wanted = BOXES.getOrDefault(parameters[i], parameters[i]);
            boolean fits = arguments[i] == null ? !parameters[i].isPrimitive() : wanted.isInstance(arguments[i]);
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    static <T extends AccessibleObject> T open(T member) {
        member.setAccessible(true);
        return member;
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException known ? known : new IllegalStateException(thrown);
    }
}
